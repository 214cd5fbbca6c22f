#pragma once
#ifdef __linux__
#include <zstd.h>
#endif
