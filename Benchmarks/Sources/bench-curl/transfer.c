#include "transfer.h"

#include <curl/curl.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fetch.h"
#include "measure.h"

enum { BUFFER = 512 << 10, SYNC_EVERY = 32 << 20, SMALL = 200 };

typedef struct {
  int file;
  long done;
  // The bytes that may be sent, and the number of bytes after which the file is synced; 0 for never.
  long limit, sync_every, unsynced;
} Transfer;

static size_t keep(char *bytes, size_t size, size_t count, void *context) {
  Transfer *transfer = context;
  size_t length = size * count;
  for (size_t done = 0; done < length;) {
    ssize_t written = write(transfer->file, bytes + done, length - done);
    if (written <= 0) return 0;
    done += (size_t)written;
  }
  transfer->done += (long)length;
  transfer->unsynced += (long)length;
  if (transfer->sync_every > 0 && transfer->unsynced >= transfer->sync_every) {
    if (fdatasync(transfer->file) != 0) return 0;
    transfer->unsynced = 0;
  }
  return length;
}

static size_t give(char *room, size_t size, size_t count, void *context) {
  Transfer *transfer = context;
  size_t length = size * count;
  long left = transfer->limit - transfer->done;
  if ((long)length > left) length = (size_t)left;
  ssize_t taken = read(transfer->file, room, length);
  if (taken < 0) return CURL_READFUNC_ABORT;
  transfer->done += taken;
  return (size_t)taken;
}

static size_t drop(char *bytes, size_t size, size_t count, void *context) {
  (void)bytes, (void)context;
  return size * count;
}

static CURL *make_handle(const char *mode) {
  CURL *handle = curl_easy_init();
  if (handle == NULL) fail("curl_easy_init", "no handle");
  curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(handle, CURLOPT_PROXY, "");
  curl_easy_setopt(handle, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
  if (strcmp(mode, "download-16k") != 0) curl_easy_setopt(handle, CURLOPT_BUFFERSIZE, (long)BUFFER);
  curl_easy_setopt(handle, CURLOPT_UPLOAD_BUFFERSIZE, (long)BUFFER);
  return handle;
}

static void perform(CURL *handle, const char *url, long bytes, const Transfer *transfer) {
  curl_easy_setopt(handle, CURLOPT_URL, url);
  CURLcode result = curl_easy_perform(handle);
  if (result != CURLE_OK) fail("transfer", curl_easy_strerror(result));
  long status = 0;
  curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
  if (status < 200 || status > 299) fail("transfer", "the status is not 2xx");
  if (transfer->done != bytes) fail("transfer", "the body does not have the requested length");
}

static void download(CURL *handle, const char *mode, const char *url, long bytes, const char *path) {
  Transfer transfer = {.sync_every = strcmp(mode, "download-synced") == 0 ? SYNC_EVERY : 0};
  transfer.file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (transfer.file < 0) fail("cannot open", path);
  curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, keep);
  curl_easy_setopt(handle, CURLOPT_WRITEDATA, &transfer);
  perform(handle, url, bytes, &transfer);
  close(transfer.file);
}

static void upload(CURL *handle, const char *url, long bytes, const char *path) {
  Transfer transfer = {.limit = bytes};
  transfer.file = open(path, O_RDONLY | O_CLOEXEC);
  if (transfer.file < 0) fail("cannot open", path);
  curl_easy_setopt(handle, CURLOPT_UPLOAD, 1L);
  curl_easy_setopt(handle, CURLOPT_READFUNCTION, give);
  curl_easy_setopt(handle, CURLOPT_READDATA, &transfer);
  curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, drop);
  curl_easy_setopt(handle, CURLOPT_INFILESIZE_LARGE, (curl_off_t)bytes);
  perform(handle, url, bytes, &transfer);
  close(transfer.file);
}

static void run(CURL *handle, const char *mode, const char *url, long bytes, const char *path) {
  if (strcmp(mode, "upload") == 0) {
    upload(handle, url, bytes, path);
  } else {
    download(handle, mode, url, bytes, path);
  }
}

// The URL of the small file on the same server.
static char *small_url(const char *url) {
  const char *host = strstr(url, "://");
  const char *path = host == NULL ? NULL : strchr(host + 3, '/');
  if (path == NULL) fail("not a URL with a path", url);
  size_t origin = (size_t)(path - url);
  char *small = malloc(origin + sizeof "/200b");
  if (small == NULL) fail("malloc", "no memory");
  memcpy(small, url, origin);
  memcpy(small + origin, "/200b", sizeof "/200b");
  return small;
}

int is_transfer(const char *mode) {
  return strncmp(mode, "download", strlen("download")) == 0 || strcmp(mode, "upload") == 0;
}

void run_transfer(const char *mode, const char *url, long bytes, const char *path) {
  CURL *handle = make_handle(mode);
  char *small = small_url(url);
  run(handle, mode, small, SMALL, path);
  // Some file systems sync a file that was truncated and written again.
  if (strcmp(mode, "upload") != 0) unlink(path);
  long idle = peak_kib();
  double cpu = cpu_microseconds(), wall = wall_microseconds();
  run(handle, mode, url, bytes, path);
  wall = wall_microseconds() - wall;
  cpu = cpu_microseconds() - cpu;
  printf(
      "{\"name\":\"curl-%s\",\"bytes\":%ld,\"cpu_us\":%.0f,\"wall_us\":%.0f,\"idle_kib\":%ld,\"peak_kib\":%ld}\n", mode,
      bytes, cpu, wall, idle, peak_kib());
  curl_easy_cleanup(handle);
  free(small);
}
