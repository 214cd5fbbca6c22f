// bench-curl MODE URL COUNT: COUNT requests with libcurl from C, measured, as one JSON line.
//
//   parallel     64 in flight by curl_multi_poll, with reused handles; also parallel-10k, parallel-1m for larger bodies,
//                parallel-tls, and parallel-h2 for HTTP/2 over TLS
//   sequential   one at a time by curl_easy_perform, with one handle
//   fetch-10k    the same with another name
//
// ERRAND_NGINX_CA names the file with the authority of the server.
//
// bench-curl MODE URL BYTES FILE: one file of that many bytes, downloaded or uploaded.
//
//   download         into the file, with a buffer of 512 KiB
//   download-16k     with libcurl's default buffer
//   download-synced  like download, and synced every 32 MiB
//   upload           from the file

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fetch.h"
#include "measure.h"
#include "transfer.h"

enum { IN_FLIGHT = 64, WARM_UP = 500 };

static void run_sequential(Fetch *fetch, long count) {
  for (long done = 0; done < count; done++) fetch_check(fetch, curl_easy_perform(fetch->handle));
}

// Collects the ended transfers and starts the same number again while REMAINING lasts. Returns the number that ended.
static long turn_over(CURLM *multi, long *remaining) {
  long ended = 0;
  int queued = 0;
  for (CURLMsg *message; (message = curl_multi_info_read(multi, &queued)) != NULL;) {
    if (message->msg != CURLMSG_DONE) continue;
    CURL *handle = message->easy_handle;
    CURLcode result = message->data.result;
    Fetch *fetch = NULL;
    curl_easy_getinfo(handle, CURLINFO_PRIVATE, &fetch);
    fetch_check(fetch, result);
    curl_multi_remove_handle(multi, handle);
    ended++;
    if (*remaining > 0) {
      *remaining -= 1;
      curl_multi_add_handle(multi, handle);
    }
  }
  return ended;
}

static void run_parallel(CURLM *multi, Fetch *fetches, long count) {
  long remaining = count, done = 0;
  for (int i = 0; i < IN_FLIGHT && remaining > 0; i++, remaining--) curl_multi_add_handle(multi, fetches[i].handle);
  while (done < count) {
    int running = 0;
    CURLMcode code = curl_multi_perform(multi, &running);
    if (code != CURLM_OK) fail("curl_multi_perform", curl_multi_strerror(code));
    long ended = turn_over(multi, &remaining);
    done += ended;
    // Transfers that were just added have not started yet, so wait only if none ended.
    if (ended == 0) curl_multi_poll(multi, NULL, 0, 1000, NULL);
  }
}

static void run(const char *mode, CURLM *multi, Fetch *fetches, long count) {
  if (strncmp(mode, "parallel", strlen("parallel")) == 0) {
    run_parallel(multi, fetches, count);
  } else if (strcmp(mode, "sequential") == 0 || strcmp(mode, "fetch-10k") == 0) {
    run_sequential(&fetches[0], count);
  } else {
    fail("unknown mode", mode);
  }
}

static void run_requests(const char *mode, const char *url, long count) {
  CURLM *multi = curl_multi_init();
  static Fetch fetches[IN_FLIGHT];
  for (int i = 0; i < IN_FLIGHT; i++) fetch_open(&fetches[i], url, strcmp(mode, "parallel-h2") == 0);

  run(mode, multi, fetches, WARM_UP);
  double cpu = cpu_microseconds(), wall = wall_microseconds();
  run(mode, multi, fetches, count);
  wall = wall_microseconds() - wall;
  cpu = cpu_microseconds() - cpu;
  printf(
      "{\"name\":\"curl-%s\",\"requests\":%ld,\"cpu_us_per_request\":%.3f,\"wall_us_per_request\":%.3f,"
      "\"requests_per_second\":%.0f}\n",
      mode, count, cpu / count, wall / count, count / (wall / 1e6));

  for (int i = 0; i < IN_FLIGHT; i++) fetch_close(&fetches[i]);
  curl_multi_cleanup(multi);
}

int main(int argc, char **argv) {
  int transfers = argc == 5 && is_transfer(argv[1]);
  if (argc != 4 && !transfers) fail("usage", "bench-curl MODE URL COUNT, or a transfer's MODE URL BYTES FILE");
  long count = strtol(argv[3], NULL, 10);
  if (count <= 0) fail("not a count", argv[3]);

  curl_global_init(CURL_GLOBAL_DEFAULT);
  if (transfers) {
    run_transfer(argv[1], argv[2], count, argv[4]);
  } else {
    run_requests(argv[1], argv[2], count);
  }
  curl_global_cleanup();
  return 0;
}
