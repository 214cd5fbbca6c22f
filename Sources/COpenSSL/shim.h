#pragma once
#ifdef __linux__
#include <openssl/ssl.h>
#endif
