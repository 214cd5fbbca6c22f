#ifndef C_FAULTY_CALLS_H
#define C_FAULTY_CALLS_H

// Replaces the file calls of the C library in a process that links this, on Linux. Every call on files below one
// folder is counted, including those of SQLite, and the call with one number fails.

// Starts counting. The call with number `turn`, from 1, fails with an error code; 0 lets no call fail. A failing
// write writes half of its bytes.
void faulty_begin(const char *folder, int turn, int code);

// Stops counting and lets every call pass.
void faulty_end(void);

// The number of counted calls.
int faulty_count(void);

// The name of the failed call; empty if none failed.
const char *faulty_name(void);

#endif
