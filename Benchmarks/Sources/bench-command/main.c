// bench-command PROGRAM ARGUMENT…: runs a command, discards its output, and prints one JSON line with the resources that
// the command used.
//
// The peak memory of a child includes that of the process that forked it, so this process is as small as possible.

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { NOT_STARTED = 127 };

#ifdef __APPLE__
enum { UNITS_PER_KIB = 1024 };
#else
enum { UNITS_PER_KIB = 1 };
#endif

static double microseconds(struct timeval time) { return time.tv_sec * 1e6 + time.tv_usec; }

static double wall_microseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1e6 + now.tv_nsec / 1e3;
}

static _Noreturn void become(char **command) {
  int nowhere = open("/dev/null", O_RDWR);
  if (nowhere >= 0) {
    dup2(nowhere, STDIN_FILENO);
    dup2(nowhere, STDOUT_FILENO);
  }
  execvp(command[0], command);
  perror(command[0]);
  _exit(NOT_STARTED);
}

int main(int argc, char **argv) {
  if (argc < 2) {
    fputs("usage: bench-command PROGRAM ARGUMENT…\n", stderr);
    return 64;
  }
  double wall = wall_microseconds();
  pid_t child = fork();
  if (child == 0) become(argv + 1);
  int status = 0;
  struct rusage usage;
  if (child < 0 || wait4(child, &status, 0, &usage) != child) {
    perror("bench-command");
    return 1;
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    fprintf(stderr, "%s ended with status %d\n", argv[1], WIFEXITED(status) ? WEXITSTATUS(status) : -1);
    return 1;
  }
  printf(
      "{\"cpu_us\":%.0f,\"wall_us\":%.0f,\"peak_kib\":%ld}\n",
      microseconds(usage.ru_utime) + microseconds(usage.ru_stime), wall_microseconds() - wall,
      usage.ru_maxrss / UNITS_PER_KIB);
  return 0;
}
