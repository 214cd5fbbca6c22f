#ifndef ERRAND_CSQLITE_H
#define ERRAND_CSQLITE_H
#include <sqlite3.h>
#endif
