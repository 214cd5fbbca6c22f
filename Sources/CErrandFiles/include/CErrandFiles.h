// Two functions of Linux that the C library declares only with the GNU extensions. Swift imports C headers without the
// GNU extensions.
#ifndef CERRANDFILES_H
#define CERRANDFILES_H

#ifdef __linux__

// Reserves disk space for the first `length` bytes of a file without changing the length of the file. Returns -1 and
// sets errno on failure.
int errand_reserve(int file, long long length);

// Renames a file. If a file named `other` already exists, returns -1 with the error EEXIST and changes nothing.
int errand_rename_exclusively(const char *path, const char *other);

#endif
#endif
