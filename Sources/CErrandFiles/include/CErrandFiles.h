// Functions of Linux that Swift cannot call: the C library declares them only with the GNU extensions, or with a variable
// number of arguments. Swift imports C headers without the GNU extensions.
#ifndef CERRANDFILES_H
#define CERRANDFILES_H

#ifdef __linux__

// Reserves disk space for the first `length` bytes of a file without changing the length of the file. Returns -1 and
// sets errno on failure.
int errand_reserve(int file, long long length);

// Renames a file. If a file named `other` already exists, returns -1 with the error EEXIST and changes nothing.
int errand_rename_exclusively(const char *path, const char *other);

// Makes a new file `target`, which only the user can access, that shares the blocks of the file `source`. Returns -1 and
// sets errno on failure, for example if the file system has no such clones.
int errand_clone(const char *source, const char *target);

#endif
#endif
