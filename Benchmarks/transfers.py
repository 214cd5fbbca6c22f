"""One large file downloaded and uploaded: by Errand, by libcurl in C and by common commands.

A client of this package, `PROGRAM MODE URL BYTES FILE`, does a small transfer first and prints one JSON line:

    {"name": "curl-download", "bytes": 1073741824, "cpu_us": 760000, "wall_us": 800000,
     "idle_kib": 10240, "peak_kib": 10752}

CPU and wall clock time are those of the large transfer alone; `idle_kib` is the peak memory after the small one. A
command runs twice, with the small file and with the large one, and the first result is subtracted from the second.
"""

import json
import os
import pathlib
import shutil
import statistics
import subprocess
import tempfile

import failures
from sink import Sink

MIB = 1 << 20
TIMEOUT = 300
# The free space that should remain on the disk in addition to both files.
SPARE = 512 * MIB


class Place:
    """The large file in the folder that nginx serves, a folder for downloads, and a server for uploads."""

    def __init__(self, options):
        self.bytes = (64 if options.quick else 1024) * MIB
        self.url, self.files = options.url, options.files
        self.big = self.files / "big"
        self.small = self.files / "200b"
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="errand-bench-"))
        self.target = self.folder / "fetched"
        self.problem = self.room_missing() or self.fill()
        self.sink = Sink(self.big)

    def room_missing(self):
        for folder in (self.files, self.folder):
            free = shutil.disk_usage(folder).free
            if free < 2 * self.bytes + SPARE:
                return f"{free // MIB} MiB are free on the disk of {folder.name}; set TMPDIR to a folder elsewhere"
        return None

    def fill(self):
        """Writes the file without holes and syncs it before the clock starts, so that no client pays for it."""
        block = os.urandom(MIB)
        with open(self.big, "wb") as file:
            for _ in range(self.bytes // MIB):
                file.write(block)
            file.flush()
            os.fsync(file.fileno())
        return None

    def check(self):
        """Compares samples of the target with the file. Raises ValueError if they differ."""
        if self.target.stat().st_size != self.bytes:
            raise ValueError(f"{self.target.stat().st_size} bytes instead of {self.bytes}")
        with open(self.target, "rb") as ours, open(self.big, "rb") as theirs:
            for place in range(0, self.bytes, self.bytes // 64):
                ours.seek(place), theirs.seek(place)
                if ours.read(4096) != theirs.read(4096):
                    raise ValueError(f"the downloaded file differs at byte {place}")

    def empty(self):
        shutil.rmtree(self.folder)
        self.folder.mkdir()

    def remove(self):
        self.sink.close()
        self.big.unlink(missing_ok=True)
        shutil.rmtree(self.folder, ignore_errors=True)


class Transfer:
    """The figures of one client for the large file; `by` combines the rounds."""

    def __init__(self, name):
        self.name, self.by = name, statistics.median
        self.lines, self.failure = [], None

    def run(self, place):
        """One round. A client that failed once is not run again."""
        self.failure = self.failure or place.problem
        if self.failure:
            return
        try:
            line = self.measure(place)
            if "download" in self.name:
                place.check()
            self.lines.append(line)
        except failures.KINDS as error:
            self.failure = failures.words(error)
        finally:
            place.empty()

    def values(self, figure):
        return [figure(line) for line in self.lines]

    def middle(self, figure):
        return None if self.failure or not self.lines else self.by(self.values(figure))

    def cpu(self):
        """CPU time for the whole file in seconds, or None if it was not measured."""
        return self.middle(cpu_seconds)

    def memory(self):
        """The difference between the peak memory for the large file and for a small file, in MiB."""
        return self.middle(added_mib)


def cpu_seconds(line):
    return line["cpu_us"] / 1e6


def added_mib(line):
    return (line["peak_kib"] - line["idle_kib"]) / 1024


class Program(Transfer):
    """A client of this package in one of its modes."""

    def __init__(self, programs, program, mode):
        super().__init__(f"{program}-{mode}")
        self.path, self.mode = programs / f"bench-{program}", mode

    def measure(self, place):
        is_upload = self.mode.startswith("upload")
        url = (place.sink.url if is_upload else place.url) + "/big"
        file = place.big if is_upload else place.target
        line = run_and_read([self.path, self.mode, url, str(place.bytes), file])
        if line.get("bytes") != place.bytes:
            raise ValueError(f"{line.get('bytes')} bytes instead of {place.bytes}")
        return checked(line, ("cpu_us", "wall_us", "idle_kib", "peak_kib"))


class Command(Transfer):
    """A command that may be installed; `words` makes its arguments from a URL and a file."""

    def __init__(self, programs, command, verb, words):
        super().__init__(f"{command}-{verb}" if command != "curl" else f"curl-command-{verb}")
        self.starter, self.command, self.verb, self.words = programs / "bench-command", command, verb, words

    def measure(self, place):
        if not shutil.which(self.command):
            raise FileNotFoundError(2, "", self.command)
        if self.verb == "upload":
            small = self.once(place.sink.url + "/200b", place.small)
            big = self.once(place.sink.url + "/big", place.big)
        else:
            small = self.once(place.url + "/200b", place.target)
            place.empty()
            big = self.once(place.url + "/big", place.target)
        return {
            "name": self.name, "bytes": place.bytes, "cpu_us": big["cpu_us"] - small["cpu_us"],
            "wall_us": big["wall_us"] - small["wall_us"], "idle_kib": small["peak_kib"], "peak_kib": big["peak_kib"],
        }

    def once(self, url, file):
        line = run_and_read([self.starter, self.command, *self.words(url, file)])
        return checked(line, ("cpu_us", "wall_us", "peak_kib"))


def run_and_read(command, **variables):
    """The line that a child prints. The environment's proxies are removed, and the variables are added."""
    plain = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")} | variables
    child = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, check=True, env=plain)
    return json.loads(child.stdout.strip().splitlines()[-1] if child.stdout.strip() else "")


def checked(line, keys):
    for key in keys:
        if not isinstance(line.get(key), (int, float)) or line[key] <= 0:
            raise ValueError(f"{key} is missing")
    return line


def make_transfers(programs):
    """Every client of a transfer, in the order in which a round runs them."""
    fetched_by_curl = lambda url, file: ["-q", "-sSf", "-o", file, url]
    sent_by_curl = lambda url, file: ["-q", "-sSf", "-T", file, url]
    fetched_by_wget = lambda url, file: ["--no-config", "-nv", "-O", file, url]
    # By default aria2 writes the whole file in advance, which takes longer than the transfer.
    fetched_by_aria2 = lambda url, file: [
        "--no-conf", "--quiet", "--file-allocation=none", "--dir", file.parent, "--out", file.name, url]
    transfers = [
        Program(programs, "curl", "download"),
        Program(programs, "errand", "download"),
        Program(programs, "errand", "download-progress"),
        Program(programs, "curl", "download-synced"),
        Program(programs, "curl", "download-16k"),
        Command(programs, "curl", "download", fetched_by_curl),
        Command(programs, "wget", "download", fetched_by_wget),
        Command(programs, "aria2c", "download", fetched_by_aria2),
        Command(programs, "curl", "upload", sent_by_curl),
        Program(programs, "errand", "upload"),
        Program(programs, "errand", "upload-copied"),
        Program(programs, "curl", "upload"),
    ]
    return {transfer.name: transfer for transfer in transfers}


def print_transfers(transfers, rounds, size):
    print(f"\nOne file of {size // MIB} MiB, {rounds} interleaved rounds: CPU s: median, minimum and maximum; other columns: median")
    print(f"{'client':<24} {'median':>9} {'min':>9} {'max':>9} {'MB/s':>9} {'idle MiB':>9} {'more MiB':>9}")
    for transfer in transfers.values():
        if transfer.failure:
            print(f"{transfer.name:<24} not measured: {transfer.failure}")
            continue
        cpu = transfer.values(cpu_seconds)
        rate = transfer.middle(lambda line: line["bytes"] / line["wall_us"])
        idle = transfer.middle(lambda line: line["idle_kib"] / 1024)
        print(f"{transfer.name:<24} {statistics.median(cpu):>9.3f} {min(cpu):>9.3f} {max(cpu):>9.3f}"
              f" {rate:>9.0f} {idle:>9.1f} {transfer.memory():>9.2f}")
