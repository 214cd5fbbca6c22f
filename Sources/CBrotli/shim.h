#pragma once
#ifdef __linux__
#include <brotli/decode.h>
#endif
