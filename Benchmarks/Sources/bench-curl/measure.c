#include "measure.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

double cpu_microseconds(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e6 + usage.ru_utime.tv_usec + usage.ru_stime.tv_usec;
}

double wall_microseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1e6 + now.tv_nsec / 1e3;
}

long peak_kib(void) {
  FILE *status = fopen("/proc/self/status", "r");
  if (status == NULL) return 0;
  char line[256];
  long peak = 0;
  while (fgets(line, sizeof line, status) != NULL) {
    if (sscanf(line, "VmHWM: %ld", &peak) == 1) break;
  }
  fclose(status);
  return peak;
}
