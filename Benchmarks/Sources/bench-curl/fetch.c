#include "fetch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void fail(const char *what, const char *detail) {
  fprintf(stderr, "bench-curl: %s: %s\n", what, detail);
  exit(1);
}

static size_t gather(char *bytes, size_t size, size_t count, void *context) {
  Fetch *fetch = context;
  size_t added = size * count;
  if (fetch->length + added > fetch->capacity) {
    size_t capacity = fetch->capacity * 2 > fetch->length + added ? fetch->capacity * 2 : fetch->length + added;
    char *body = realloc(fetch->body, capacity);
    if (body == NULL) return 0;
    fetch->body = body;
    fetch->capacity = capacity;
  }
  memcpy(fetch->body + fetch->length, bytes, added);
  fetch->length += added;
  return added;
}

void fetch_open(Fetch *fetch, const char *url, int is_http2) {
  memset(fetch, 0, sizeof *fetch);
  fetch->handle = curl_easy_init();
  if (fetch->handle == NULL) fail("curl_easy_init", "no handle");
  curl_easy_setopt(fetch->handle, CURLOPT_URL, url);
  curl_easy_setopt(fetch->handle, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(fetch->handle, CURLOPT_PROXY, "");
  curl_easy_setopt(
      fetch->handle, CURLOPT_HTTP_VERSION, (long)(is_http2 ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1));
  // The transfers share one connection, also those that start before it is open.
  curl_easy_setopt(fetch->handle, CURLOPT_PIPEWAIT, (long)is_http2);
  const char *authority = getenv("ERRAND_NGINX_CA");
  if (authority != NULL) curl_easy_setopt(fetch->handle, CURLOPT_CAINFO, authority);
  curl_easy_setopt(fetch->handle, CURLOPT_WRITEFUNCTION, gather);
  curl_easy_setopt(fetch->handle, CURLOPT_WRITEDATA, fetch);
  curl_easy_setopt(fetch->handle, CURLOPT_PRIVATE, fetch);
}

void fetch_close(Fetch *fetch) {
  curl_easy_cleanup(fetch->handle);
  free(fetch->body);
}

void fetch_check(Fetch *fetch, CURLcode result) {
  static size_t expected = 0;
  if (result != CURLE_OK) fail("transfer", curl_easy_strerror(result));
  long status = 0;
  curl_easy_getinfo(fetch->handle, CURLINFO_RESPONSE_CODE, &status);
  if (status != 200) fail("transfer", "the status is not 200");
  if (expected == 0) expected = fetch->length;
  if (fetch->length == 0 || fetch->length != expected) fail("transfer", "the body has a different length");
  fetch->length = 0;
}
