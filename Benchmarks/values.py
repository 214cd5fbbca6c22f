"""Values read from JSON: by Errand and by Foundation, in turns in one process.

`bench-json ROUNDS` prints one JSON line with the least CPU microseconds of each measurement:

    {"cpu_us": {"10k-foundation": 273.1, "10k-own": 52.4}}
"""

import json
import subprocess

import failures

# Within one run of the program.
ROUNDS = 7
TIMEOUT = 300


class Figure:
    """What one measurement took; the least of the rounds, as in the program itself."""

    def __init__(self, name):
        self.name, self.lines = name, []

    def cpu(self):
        return min(self.lines) if self.lines else None


class Values:
    """The program and its figures, which have the names that it gives them."""

    def __init__(self, programs):
        self.program = programs / "bench-json"
        self.figures, self.failure = {}, None

    def run(self):
        """One round. After a failure it is not tried again."""
        if self.failure:
            return
        try:
            command = [self.program, str(ROUNDS)]
            child = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, check=True)
            for name, microseconds in json.loads(child.stdout)["cpu_us"].items():
                figure = self.figures.setdefault(f"json-{name}", Figure(f"json-{name}"))
                figure.lines.append(microseconds)
        except failures.KINDS as error:
            self.failure = failures.words(error)


def print_values(values, rounds):
    print(f"\nJSON: CPU µs an operation, least of {rounds} times {ROUNDS} rounds in turn")
    if values.failure:
        print(f"bench-json               not measured: {values.failure}")
    for figure in values.figures.values():
        print(f"{figure.name:<24} {figure.cpu():>9.2f}")
