#define _GNU_SOURCE
#include "CFaultyCalls.h"

// Sanitizers define functions with the same names.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define IS_SANITIZED 1
#endif
#endif

#if defined(__linux__) && !defined(IS_SANITIZED)

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { descriptors = 1 << 16 };

static char root[4096];
static size_t rootLength;
static atomic_bool isOn;
static atomic_int counted, chosen, error;
static _Atomic(const char *) failed;
// The descriptors that were opened below the folder.
static atomic_bool ours[descriptors];

void faulty_begin(const char *folder, int turn, int code) {
  atomic_store(&isOn, false);
  rootLength = strlen(folder);
  if (rootLength >= sizeof root) rootLength = 0;
  memcpy(root, folder, rootLength);
  atomic_store(&counted, 0);
  atomic_store(&chosen, turn);
  atomic_store(&error, code);
  atomic_store(&failed, "");
  atomic_store(&isOn, rootLength > 0);
}

void faulty_end(void) { atomic_store(&isOn, false); }
int faulty_count(void) { return atomic_load(&counted); }
const char *faulty_name(void) { return atomic_load(&failed); }

static bool isBelow(const char *path) {
  return atomic_load(&isOn) && path && strncmp(path, root, rootLength) == 0;
}

static bool isOurs(int file) { return file >= 0 && file < descriptors && atomic_load(&ours[file]); }

static bool fails(const char *name) {
  if (!atomic_load(&isOn) || atomic_fetch_add(&counted, 1) + 1 != atomic_load(&chosen)) return false;
  atomic_store(&failed, name);
  errno = atomic_load(&error);
  return true;
}

// Looks up the definition of the C library, once.
#define NEXT(name, type, ...) \
  static type (*next)(__VA_ARGS__); \
  if (!next) next = (type(*)(__VA_ARGS__))dlsym(RTLD_NEXT, name);

static int opened(int (*next)(const char *, int, ...), const char *path, int flags, mode_t mode) {
  if (!isBelow(path)) {
    int file = next(path, flags, mode);
    if (file >= 0 && file < descriptors) atomic_store(&ours[file], false);
    return file;
  }
  if (fails("open")) return -1;
  int file = next(path, flags, mode);
  if (file >= 0 && file < descriptors) atomic_store(&ours[file], true);
  return file;
}

static mode_t modeOf(int flags, va_list rest) { return flags & (O_CREAT | __O_TMPFILE) ? va_arg(rest, mode_t) : 0; }

int open(const char *path, int flags, ...) {
  NEXT("open", int, const char *, int, ...)
  va_list rest;
  va_start(rest, flags);
  mode_t mode = modeOf(flags, rest);
  va_end(rest);
  return opened(next, path, flags, mode);
}

int open64(const char *path, int flags, ...) {
  NEXT("open64", int, const char *, int, ...)
  va_list rest;
  va_start(rest, flags);
  mode_t mode = modeOf(flags, rest);
  va_end(rest);
  return opened(next, path, flags, mode);
}

int close(int file) {
  NEXT("close", int, int)
  bool isFault = isOurs(file) && fails("close");
  // close() releases the descriptor even if it fails.
  if (file >= 0 && file < descriptors) atomic_store(&ours[file], false);
  int result = next(file);
  if (!isFault) return result;
  errno = atomic_load(&error);
  return -1;
}

// A failing write writes half of its bytes.
static ssize_t half(ssize_t (*next)(int, const void *, size_t, off64_t), int file, const void *bytes, size_t count,
                    off64_t place) {
  if (count / 2 > 0) next(file, bytes, count / 2, place);
  errno = atomic_load(&error);
  return -1;
}

#define READ_AT(name, offset) \
  ssize_t name(int file, void *memory, size_t count, offset place) { \
    NEXT(#name, ssize_t, int, void *, size_t, offset) \
    return isOurs(file) && fails("read") ? -1 : next(file, memory, count, place); \
  }
READ_AT(pread, off_t)
READ_AT(pread64, off64_t)

#define WRITE_AT(name, offset) \
  ssize_t name(int file, const void *bytes, size_t count, offset place) { \
    NEXT(#name, ssize_t, int, const void *, size_t, off64_t) \
    if (isOurs(file) && fails("write")) return half(next, file, bytes, count, place); \
    return next(file, bytes, count, place); \
  }
WRITE_AT(pwrite, off_t)
WRITE_AT(pwrite64, off64_t)

ssize_t read(int file, void *memory, size_t count) {
  NEXT("read", ssize_t, int, void *, size_t)
  return isOurs(file) && fails("read") ? -1 : next(file, memory, count);
}

ssize_t write(int file, const void *bytes, size_t count) {
  NEXT("write", ssize_t, int, const void *, size_t)
  return isOurs(file) && fails("write") ? -1 : next(file, bytes, count);
}

#define ON_FILE(name, ...) \
  NEXT(#name, int, __VA_ARGS__) \
  if (isOurs(file) && fails(#name)) return -1;

int ftruncate(int file, off_t length) { ON_FILE(ftruncate, int, off_t) return next(file, length); }
int ftruncate64(int file, off64_t length) { ON_FILE(ftruncate64, int, off64_t) return next(file, length); }
int fsync(int file) { ON_FILE(fsync, int) return next(file); }
int fdatasync(int file) { ON_FILE(fdatasync, int) return next(file); }
int fchmod(int file, mode_t mode) { ON_FILE(fchmod, int, mode_t) return next(file, mode); }
int fstat(int file, struct stat *status) { ON_FILE(fstat, int, struct stat *) return next(file, status); }
int fstat64(int file, struct stat64 *status) { ON_FILE(fstat64, int, struct stat64 *) return next(file, status); }

#define ON_PATH(name, ...) \
  NEXT(#name, int, __VA_ARGS__) \
  if (isBelow(path) && fails(#name)) return -1;

int unlink(const char *path) { ON_PATH(unlink, const char *) return next(path); }
int mkdir(const char *path, mode_t mode) { ON_PATH(mkdir, const char *, mode_t) return next(path, mode); }
int chmod(const char *path, mode_t mode) { ON_PATH(chmod, const char *, mode_t) return next(path, mode); }
int access(const char *path, int mode) { ON_PATH(access, const char *, int) return next(path, mode); }
int stat(const char *path, struct stat *status) {
  ON_PATH(stat, const char *, struct stat *)
  return next(path, status);
}
int stat64(const char *path, struct stat64 *status) {
  ON_PATH(stat64, const char *, struct stat64 *)
  return next(path, status);
}
int lstat(const char *path, struct stat *status) {
  ON_PATH(lstat, const char *, struct stat *)
  return next(path, status);
}
int lstat64(const char *path, struct stat64 *status) {
  ON_PATH(lstat64, const char *, struct stat64 *)
  return next(path, status);
}
int rename(const char *path, const char *other) {
  ON_PATH(rename, const char *, const char *)
  return next(path, other);
}

DIR *opendir(const char *path) {
  NEXT("opendir", DIR *, const char *)
  return isBelow(path) && fails("opendir") ? NULL : next(path);
}

#else

void faulty_begin(const char *folder, int turn, int code) {}
void faulty_end(void) {}
int faulty_count(void) { return 0; }
const char *faulty_name(void) { return ""; }

#endif
