"""Values decoded from JSON: by Errand and Foundation in one process, and by programs in other languages.

`bench-json ROUNDS` and `PEER FOLDER ROUNDS` print one JSON line with the minimum CPU time of each measurement, in microseconds:

    {"cpu_us": {"10k-foundation": 273.1, "10k-own": 52.4}}

The peers read the texts that bench-json writes to a folder.
"""

import json
import pathlib
import shutil
import subprocess
import tempfile

import failures
from transfers import checked

# The rounds within one run of a program.
ROUNDS = 7
TIMEOUT = 300

TEXTS = ("200b", "10k", "posts", "map")


class Figure:
    """The results of one measurement. The minimum of the rounds counts, as in the program itself."""

    def __init__(self, name):
        self.name, self.lines, self.failure = name, [], None

    def cpu(self):
        return None if self.failure or not self.lines else min(self.lines)


class Program:
    """A measuring program. Its figures are named after it and the measurement; `names` are the measurements of a peer."""

    def __init__(self, name, path, arguments, names=()):
        self.name, self.path, self.arguments, self.names = name, path, arguments, names
        self.figures = {key: Figure(self.figure_name(key)) for key in names}
        self.failure = None

    def figure_name(self, key):
        return f"{self.name}-{key}"

    def run(self):
        """One round. A program that failed once is not run again."""
        if self.failure:
            return
        try:
            command = [self.path, *self.arguments, str(ROUNDS)]
            child = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, check=True)
            taken = json.loads(child.stdout)["cpu_us"]
            for key, microseconds in checked(taken, self.names or taken).items():
                self.figures.setdefault(key, Figure(self.figure_name(key))).lines.append(microseconds)
        except failures.KINDS as error:
            self.fail(failures.words(error))

    def fail(self, reason):
        self.failure = reason
        for figure in self.figures.values():
            figure.failure = reason


class Values:
    """The programs and all their figures."""

    def __init__(self, programs, peers):
        self.texts = pathlib.Path(tempfile.mkdtemp(prefix="errand-texts-"))
        self.own = Program("json", programs / "bench-json", [])
        self.peers = [
            Program("simdjson", peers / "bench-simdjson", [self.texts], (*TEXTS, *(f"{text}-parse" for text in TEXTS))),
            Program("go", peers / "bench-go", [self.texts], (*TEXTS, "10k-write")),
        ]
        reason = self.write_texts()
        for peer in self.peers:
            note = peer.path.with_suffix(".txt")
            if note.exists() or reason:
                peer.fail(note.read_text().strip() if note.exists() else reason)

    def write_texts(self):
        """Writes the texts for the peers. Returns the reason for a failure, or None."""
        try:
            subprocess.run([self.own.path, "texts", self.texts], capture_output=True, text=True, timeout=TIMEOUT, check=True)
            return None
        except failures.KINDS as error:
            return f"no texts: {failures.words(error)}"

    @property
    def failure(self):
        return self.own.failure

    @property
    def figures(self):
        return {figure.name: figure for program in (self.own, *self.peers) for figure in program.figures.values()}

    def run(self):
        """One round of each."""
        for program in (self.own, *self.peers):
            program.run()

    def remove(self):
        shutil.rmtree(self.texts, ignore_errors=True)


def print_values(values, rounds):
    print(f"\nJSON: CPU µs per operation, minimum of {rounds} times {ROUNDS} interleaved rounds")
    if values.failure:
        print(f"{'bench-json':<24} not measured: {values.failure}")
    for figure in values.figures.values():
        if figure.failure:
            print(f"{figure.name:<24} not measured: {figure.failure}")
        else:
            print(f"{figure.name:<24} {figure.cpu():>9.2f}")
