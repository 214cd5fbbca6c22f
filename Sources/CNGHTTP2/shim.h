#pragma once
#ifdef __linux__
#include <nghttp2/nghttp2.h>

// Sets how many CONTINUATION frames libnghttp2 accepts in a row. Versions without the function have no such limit.
extern void nghttp2_option_set_max_continuations(nghttp2_option *option, size_t count) __attribute__((weak));

static inline void errand_set_most_continuations(nghttp2_option *option, size_t count) {
  if (nghttp2_option_set_max_continuations) nghttp2_option_set_max_continuations(option, count);
}
#endif
