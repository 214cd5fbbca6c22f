// The resources that the process has used so far.
#pragma once

// User and system time of the whole process.
double cpu_microseconds(void);

// A monotonic clock.
double wall_microseconds(void);

// The peak resident memory since the program started. Unlike the value of getrusage, this does not include the parent
// process.
long peak_kib(void);
