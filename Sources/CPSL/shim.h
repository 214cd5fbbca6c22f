#pragma once
#ifdef __linux__
#include <libpsl.h>
#endif
