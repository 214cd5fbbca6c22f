#include "errand_curl.h"
