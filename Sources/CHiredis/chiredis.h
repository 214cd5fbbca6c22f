#ifndef ERRAND_CHIREDIS_H
#define ERRAND_CHIREDIS_H
#if __has_include(<hiredis/hiredis.h>)
#include <hiredis/hiredis.h>
#else
#include <hiredis.h>
#endif
#endif
