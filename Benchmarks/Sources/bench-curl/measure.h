// What a process has taken so far.
#pragma once

// User and system time of the whole process.
double cpu_microseconds(void);

// A clock that never goes back.
double wall_microseconds(void);

// The most memory that was resident at once since the program began. Unlike what getrusage says, this knows nothing of
// the process that started it.
long peak_kib(void);
