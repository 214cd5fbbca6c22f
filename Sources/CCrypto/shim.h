#pragma once
#ifdef __linux__
#include <openssl/evp.h>
#endif
