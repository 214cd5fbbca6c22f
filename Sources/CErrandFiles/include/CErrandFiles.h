// Two calls of Linux that the C library shows only to those who ask for GNU's extensions, as Swift's importer does not.
#ifndef CERRANDFILES_H
#define CERRANDFILES_H

#ifdef __linux__

// Sets room aside for the first `length` bytes of a file, whose length stays. -1 and errno where it fails.
int errand_reserve(int file, long long length);

// Gives a file another name, unless that is taken: then -1 and EEXIST.
int errand_rename_exclusively(const char *path, const char *other);

#endif
#endif
