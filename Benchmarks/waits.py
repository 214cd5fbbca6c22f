"""The waiting times of small calls over the engine, alone and during a large response body on the same thread.

bench-errand, `PROGRAM MODE URL COUNT`, keeps 64 calls in flight, COUNT alone or as many as end during the large body,
and prints one JSON line:

    {"name": "errand-beside-file", "calls": 40000, "p50_us": 3300, "p99_us": 12700, "max_us": 31000,
     "calls_per_second": 18000, "mib_per_second": 900}

nginx answers the small calls. The large body comes from the driver's own server, because one server could send small
responses late while it sends a large one.
"""

import statistics

from transfers import MIB, Transfer, checked, run_and_read

MODES = ["latency", "beside", "beside-file", "beside-slow"]
CALLS = 40000


class Waits(Transfer):
    """The waiting times of one mode; `by` combines the rounds."""

    def __init__(self, programs, mode):
        super().__init__(f"engine-{mode}")
        self.path, self.mode = programs / "bench-errand", mode

    def measure(self, place):
        calls = CALLS * place.bytes // (1024 * MIB)
        line = run_and_read(
            [self.path, self.mode, place.url + "/200b", str(calls)],
            ERRAND_TRANSPORT="engine", ERRAND_STREAM=place.sink.url + "/big", TMPDIR=str(place.folder))
        return checked(line, ("calls", "p50_us", "p99_us", "max_us", "calls_per_second"))

    def p50(self):
        """The median of the waiting times in milliseconds, or None if it was not measured."""
        return self.middle(lambda line: line["p50_us"] / 1e3)

    def p99(self):
        """The waiting time that 99 % of the calls do not exceed, in milliseconds."""
        return self.middle(lambda line: line["p99_us"] / 1e3)


def make_waits(programs):
    waits = [Waits(programs, mode) for mode in MODES]
    return {wait.name: wait for wait in waits}


def print_waits(waits, rounds):
    print(f"\nWaiting times of small calls, 64 in flight, {rounds} interleaved rounds: ms, medians of the rounds")
    print(f"{'client':<24} {'median':>9} {'99 %':>9} {'max':>9} {'calls/s':>9} {'MiB/s':>9}")
    for wait in waits.values():
        if wait.failure:
            print(f"{wait.name:<24} not measured: {wait.failure}")
            continue
        middle = lambda key: statistics.median(line[key] for line in wait.lines)
        print(f"{wait.name:<24} {wait.p50():>9.2f} {wait.p99():>9.2f} {middle('max_us') / 1e3:>9.2f}"
              f" {middle('calls_per_second'):>9.0f} {middle('mib_per_second'):>9.0f}")
