#pragma once
#ifdef __linux__
#include <curl/curl.h>
#endif
