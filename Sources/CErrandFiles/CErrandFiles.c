#define _GNU_SOURCE
#include "CErrandFiles.h"

#ifdef __linux__
#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef FALLOC_FL_KEEP_SIZE
#define FALLOC_FL_KEEP_SIZE 1
#endif

int errand_reserve(int file, long long length) {
  return fallocate(file, FALLOC_FL_KEEP_SIZE, 0, (off_t)length);
}

int errand_rename_exclusively(const char *path, const char *other) {
#ifdef SYS_renameat2
  // The number 1 is RENAME_NOREPLACE. Not every C library has the function renameat2.
  return (int)syscall(SYS_renameat2, AT_FDCWD, path, AT_FDCWD, other, 1U);
#else
  (void)path;
  (void)other;
  errno = ENOSYS;
  return -1;
#endif
}
#endif
