// Sends requests through libcurl with the options of the transport, for Scripts/fuzz-responses.sh, until a time is over:
// client PORT SECONDS [reuse]
//
// With "reuse" the same easy handles carry all exchanges, which harms libcurl before 8.1.1.

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { at_once = 16 };

static char error_text[CURL_ERROR_SIZE];
static size_t total;

// Reads every byte, so that a wrong length is seen.
static size_t take(char *bytes, size_t size, size_t count, void *data) {
  (void)data;
  for (size_t place = 0; place < size * count; place++) total += (unsigned char)bytes[place];
  return size * count;
}

static int before_request(void *data, char *remote, char *local, int remote_port, int local_port) {
  (void)data;
  (void)remote_port;
  (void)local_port;
  return remote && local ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT;
}

static CURL *make(const char *url) {
  CURL *easy = curl_easy_init();
  if (!easy) exit(2);
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(easy, CURLOPT_HTTP09_ALLOWED, 0L);
  curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L);
  curl_easy_setopt(easy, CURLOPT_DISALLOW_USERNAME_IN_URL, 1L);
  curl_easy_setopt(easy, CURLOPT_HTTP_CONTENT_DECODING, 0L);
  curl_easy_setopt(easy, CURLOPT_HTTP_TRANSFER_DECODING, 0L);
  curl_easy_setopt(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
  curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, error_text);
  curl_easy_setopt(easy, CURLOPT_PROXY, "");
  curl_easy_setopt(easy, CURLOPT_URL, url);
  curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
  curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, take);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take);
  curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, before_request);
  curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, 500L);
  return easy;
}

static void choose(CURL *easy, long number) {
  curl_easy_setopt(easy, CURLOPT_HTTPGET, 1L);
  if (number % 5 == 1) curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
  if (number % 5 == 2) curl_easy_setopt(easy, CURLOPT_COPYPOSTFIELDS, "body");
}

static void exchange(CURLM *multi, CURL **easy, int count) {
  int running = 1, left = 0;
  for (int place = 0; place < count; place++) curl_multi_add_handle(multi, easy[place]);
  while (curl_multi_perform(multi, &running) == CURLM_OK && running) curl_multi_poll(multi, NULL, 0, 500, NULL);
  while (curl_multi_info_read(multi, &left)) continue;
  for (int place = 0; place < count; place++) curl_multi_remove_handle(multi, easy[place]);
}

int main(int count, char **words) {
  char url[64];
  long number = 0;
  if (count < 3) return 2;
  time_t end = time(NULL) + atol(words[2]);
  int reuses = count > 3 && strcmp(words[3], "reuse") == 0;
  snprintf(url, sizeof url, "http://127.0.0.1:%d/", atoi(words[1]));
  curl_global_init(CURL_GLOBAL_DEFAULT);
  CURLM *multi = curl_multi_init();
  CURL *easy[at_once] = {NULL};
  while (time(NULL) < end) {
    for (int place = 0; place < at_once; place++) {
      if (!easy[place]) easy[place] = make(url);
      choose(easy[place], number++);
    }
    exchange(multi, easy, at_once);
    for (int place = 0; place < at_once && !reuses; place++) {
      curl_easy_cleanup(easy[place]);
      easy[place] = NULL;
    }
  }
  for (int place = 0; place < at_once; place++) curl_easy_cleanup(easy[place]);
  curl_multi_cleanup(multi);
  curl_global_cleanup();
  printf("%ld exchanges\n", number);
  return number > 0 ? 0 : 2;
}
