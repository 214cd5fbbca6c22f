#ifndef ERRAND_CLIBFUZZER_H
#define ERRAND_CLIBFUZZER_H
#include <stddef.h>
#include <stdint.h>

/* The driver of LLVM's libFuzzer. The compiler links it where a program is built with -sanitize=fuzzer. */
int LLVMFuzzerRunDriver(int *count, char ***arguments, int (*target)(const uint8_t *bytes, size_t count));
#endif
