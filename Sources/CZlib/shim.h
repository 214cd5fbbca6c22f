#pragma once
#ifdef __linux__
#include <zlib.h>
#endif
