#define _GNU_SOURCE
#include "CErrandFiles.h"

#ifdef __linux__
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
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

int errand_clone(const char *source, const char *target) {
#ifdef FICLONE
  int from = open(source, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (from < 0) return -1;
  int to = open(target, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  int result = to < 0 ? -1 : ioctl(to, FICLONE, from);
  int failure = errno;
  if (to >= 0) close(to);
  close(from);
  if (to >= 0 && result != 0) unlink(target);
  errno = failure;
  return result == 0 ? 0 : -1;
#else
  (void)source;
  (void)target;
  errno = ENOSYS;
  return -1;
#endif
}
#endif
