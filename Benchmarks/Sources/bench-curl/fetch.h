// One GET with libcurl and the memory its body goes to.
#pragma once

#include <curl/curl.h>
#include <stddef.h>

typedef struct {
  CURL *handle;
  char *body;
  size_t length;
  size_t capacity;
} Fetch;

// Makes a handle for URL, to be used again and again. Ends the program when there is no memory.
void fetch_open(Fetch *fetch, const char *url);
void fetch_close(Fetch *fetch);

// Ends the program with a message unless RESULT is success, the status 200 and the body as long as all others.
void fetch_check(Fetch *fetch, CURLcode result);

// Ends the program with a message.
_Noreturn void fail(const char *what, const char *detail);
