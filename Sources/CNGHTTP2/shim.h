#pragma once
#ifdef __linux__
#include <nghttp2/nghttp2.h>
#endif
