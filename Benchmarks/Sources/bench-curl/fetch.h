// One GET with libcurl and the buffer of its body.
#pragma once

#include <curl/curl.h>
#include <stddef.h>

typedef struct {
  CURL *handle;
  char *body;
  size_t length;
  size_t capacity;
} Fetch;

// Creates a reusable handle for URL, for HTTP/1.1 or for HTTP/2 over TLS. Exits if there is no memory.
void fetch_open(Fetch *fetch, const char *url, int is_http2);
void fetch_close(Fetch *fetch);

// Exits with a message unless RESULT is success, the status is 200 and the body is as long as all others.
void fetch_check(Fetch *fetch, CURLcode result);

// Exits with a message.
_Noreturn void fail(const char *what, const char *detail);
