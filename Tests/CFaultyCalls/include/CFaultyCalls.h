#ifndef C_FAULTY_CALLS_H
#define C_FAULTY_CALLS_H

// The file calls of the C library in a process that is linked with this, on Linux: what anybody in it does with files
// below one folder is counted, SQLite included, and the call of one number fails.

// Counts from here on, and lets the call with a number from 1 fail with an error code; 0 lets none fail. A failing
// write writes half.
void faulty_begin(const char *folder, int turn, int code);

// Lets every call pass and counts none.
void faulty_end(void);

// How many calls were counted.
int faulty_count(void);

// The name of the call that failed; empty for none.
const char *faulty_name(void);

#endif
