"""Runs the built tests in several processes side by side, and checks that every recorded test ran.

    tests.py run all|thread|address BUNDLE LOG-FOLDER    runs the tests; BUNDLE is the built test program
    tests.py record BUNDLE                               records the number of tests of each target in test-counts.txt

In a process one test runs after another, because most suites measure shared things such as connections. Tests wait more
than they compute, so a few processes side by side take a fraction of the time. `thread` and `address` are the runs with
the sanitizers, which leave out the folders listed below. ERRAND_TEST_MINUTES is the limit for one test (5).
"""

import collections
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import xml.etree.ElementTree

TESTS = pathlib.Path(__file__).resolve().parent.parent / "Tests"
RECORD = pathlib.Path(__file__).resolve().parent / "test-counts.txt"
# A container or `taskset` may leave this process only some of the processors of the machine.
PROCESSES = (len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 2) + 2
# A process that starts and ends no test for this time counts as hanging. The time-limit trait of Swift Testing is not
# used: it does not end a test that blocks its thread, and `@Suite` makes the compiler read all suites for each file.
MINUTES = float(os.environ.get("ERRAND_TEST_MINUTES", "5"))
# The smallest and the largest number of tests for which a process is started. Tests start many threads: the thread
# sanitizer itself crashed in a process of 300 tests that had started 20,000 threads.
FEWEST, MOST = 20, 150

# Tests of other programs, which the sanitizer of the test program does not see, and of Foundation's URLSession.
PROGRAMS = (
    "ErrandCommandTests", "ErrandRecordTests/Processes", "ErrandTests/Faults", "ErrandTests/Processes",
    "ErrandURLSessionTests", "ExampleTests",
)
# Tests of values, formats and decisions, which use no concurrency.
SEQUENTIAL = (
    "ErrandCacheTests/HTTP", "ErrandCacheTests/Key", "ErrandChecksumTests", "ErrandCoreTests/Formats",
    "ErrandGenerateTests", "ErrandPublicSuffixTests", "ErrandTests/Decoding", "ErrandTransferTests/Decision",
    "ErrandTransferTests/Record", "ErrandXMLTests",
)
# Tests of targets that use neither C libraries nor unsafe pointers.
SAFE = ("ErrandGenerateTests", "ErrandServerTests", "ErrandTelemetryTests")
# The folders that a run leaves out. A new folder is in every run.
RUNS = {"all": (), "thread": PROGRAMS + SEQUENTIAL, "address": PROGRAMS + SAFE}

# Suites that wait for half a minute or more. They are handed out first, one by one, so that the run does not end with one.
LONG = (
    "ErrandEngineTests.EngineConformanceTests", "ErrandCurlTests.CurlConformanceTests", "ErrandTests.FileCallTests",
    "ErrandRedisTests.RedisOutageTests", "ErrandTests.DownloadCrashTests", "ErrandTransferTests.PartFaultTests",
    "ErrandURLSessionTests.URLSessionConformanceTests",
)

# The first line of a report about a crash.
CRASH = re.compile(r"ERROR: \w+Sanitizer|WARNING: ThreadSanitizer|Fatal error|\.swift:\d+: .*error:")


def listed(bundle):
    """The names of all tests, in the order of the test program: `Target.Suite/name()`."""
    output = subprocess.run(
        [bundle, "--testing-library", "swift-testing", "--list-tests"], check=True, capture_output=True, text=True).stdout
    names = [line for line in output.split("\n") if line]
    for name in names:
        if not re.match(r"\w+\.\w+/", name):
            sys.exit(f"tests: {name} is in no suite, so it cannot be selected; declare it in a suite")
    return names


def folders():
    """The folder of each suite, relative to Tests, by `Target.Suite`."""
    declaration = re.compile(r"^ *(?:@\w+(?:\(.*\))? )*(?:\w+ )*(?:struct|enum|class|actor) (\w+)", re.MULTILINE)
    found = {}
    for file in sorted(TESTS.rglob("*.swift")):
        folder = file.parent.relative_to(TESTS)
        for suite in declaration.findall(file.read_text()):
            found.setdefault(f"{folder.parts[0]}.{suite}", f"{folder.as_posix()}/")
    return found


def selected(run, names):
    """The tests of a run, by suite."""
    where, suites = folders(), collections.defaultdict(list)
    for name in names:
        suite = name.split("/")[0]
        if not where.get(suite, "").startswith(tuple(f"{path}/" for path in RUNS[run])):
            suites[suite].append(name)
    return suites


class Run:
    """Hands suites to processes and collects what they report."""

    def __init__(self, bundle, logs, suites):
        self.bundle, self.logs = bundle, pathlib.Path(logs)
        long = [suite for suite in LONG if suite in suites]
        self.waiting = collections.deque(long + [suite for suite in suites if suite not in long])
        self.sizes = {suite: len(tests) for suite, tests in suites.items()}
        self.lock = threading.RLock()
        self.number = 0
        # Each process gets a folder for temporary files in this one, because a process that is ended leaves its files.
        # Other users can read it: a test continues as another user.
        self.scratch = pathlib.Path(tempfile.mkdtemp(prefix="errand-tests-"))
        self.scratch.chmod(0o755)
        self.processes = set()
        self.ran, self.passed, self.failures, self.skipped = collections.Counter(), 0, 0, []

    def all(self):
        for kind in (signal.SIGINT, signal.SIGTERM):
            signal.signal(kind, self.stop)
        threads = [threading.Thread(target=self.work) for _ in range(PROCESSES)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        remove(self.scratch)

    def stop(self, kind, _):
        """Ends the test processes and their children, which would otherwise continue without this one."""
        with self.lock:
            for process in self.processes:
                end(process)
            remove(self.scratch)
            os._exit(128 + kind)

    def work(self):
        while batch := self.next():
            self.process(batch)

    def next(self):
        """The next suites for a process: many at first, few at the end, so that all processes end together."""
        with self.lock:
            share = sum(self.sizes[suite] for suite in self.waiting) // (3 * PROCESSES)
            batch, size = [], 0
            while self.waiting and size < min(max(share, FEWEST), MOST):
                batch.append(self.waiting.popleft())
                size += self.sizes[batch[-1]]
                if batch[-1] in LONG:
                    break
            return batch

    def process(self, suites):
        begin = time.monotonic()
        with self.lock:
            self.number += 1
            log, report = self.logs / f"{self.number:03}.log", self.logs / f"{self.number:03}.xml"
            pattern = "^(" + "|".join(re.escape(suite) for suite in suites) + ")/"
            folder = self.scratch / f"{self.number:03}"
            folder.mkdir()
            folder.chmod(0o755)
            with log.open("w") as output:
                # A session of its own, so that the children of the tests can be ended together with them.
                process = subprocess.Popen(
                    [self.bundle, "--testing-library", "swift-testing", "--no-parallel", "--xunit-output", report,
                     "--filter", pattern],
                    stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, start_new_session=True,
                    env={**os.environ, "TMPDIR": str(folder)})
            self.processes.add(process)
        ending = wait(process, log)
        with self.lock:
            end(process)
            self.processes.discard(process)
            self.collect(suites, log, report, process.wait(), ending, time.monotonic() - begin)
        remove(folder)

    def collect(self, suites, log, report, status, ending, seconds):
        lines = log.read_text(errors="replace").splitlines()
        cases, is_whole = reported(report)
        failed = [line for line in lines if re.match(r"✘ Test (?!run |case ).* failed after ", line)]
        skipped = [line for line in lines if re.match(r"➜ Test .* (skipped|was cancelled)", line)]
        self.ran.update(case.get("classname").split(".")[0] for case in cases)
        self.failures += len(failed)
        self.skipped += skipped
        self.passed += max(0, len(cases) - len(failed) - len(skipped))
        print(f"{len(cases):5} tests in {seconds:5.1f} s: {suites[0]} … {suites[-1]}", flush=True)
        if status == 0 and is_whole:
            return
        # Issues are hard to find among thousands of lines. The lines after an issue have its details.
        for index, line in enumerate(lines):
            if line.startswith("✘") and " recorded an issue" in line:
                complain(lines[index:index + 3])
        if not is_whole or not failed:
            self.failures += 1
            first = next((index for index, line in enumerate(lines) if CRASH.search(line)), max(0, len(lines) - 40))
            last = next((line for line in reversed(lines) if " started." in line), "no test started")
            complain([f"tests: a process {ending}. The last test: {last}", *lines[first:first + 100]])


def wait(process, log):
    """Waits until a process has ended or has written nothing for too long. Returns what happened."""
    while True:
        try:
            return f"ended with status {process.wait(2)}"
        except subprocess.TimeoutExpired:
            if time.time() - log.stat().st_mtime > MINUTES * 60:
                return f"has started and ended no test for {MINUTES:g} minutes"


def end(process):
    """Ends a process and its children."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def remove(folder):
    """Removes a folder, except what a child that has not ended yet creates in it."""
    shutil.rmtree(folder, ignore_errors=True)


def complain(lines):
    print("\n".join(lines), file=sys.stderr, flush=True)


# The control characters that XML forbids. A failed test may quote them, for example those of a terminal.
FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f]")


def reported(report):
    """The tests of a report, and whether it is complete. A process that crashed has written none, or a part of one."""
    try:
        text = FORBIDDEN.sub("", pathlib.Path(report).read_text(errors="replace"))
        return xml.etree.ElementTree.fromstring(text).findall(".//testcase"), True
    except (FileNotFoundError, xml.etree.ElementTree.ParseError):
        return [], False


def recorded(run):
    column = list(RUNS).index(run) + 1
    rows = (line.split() for line in RECORD.read_text().splitlines()[1:])
    return {row[0]: int(row[column]) for row in rows if int(row[column])}


def has_ipv6():
    """Whether this machine has the loopback address of IPv6."""
    try:
        with socket.socket(socket.AF_INET6) as any_port:
            any_port.bind(("::1", 0))
            return True
    except OSError:
        return False


def unexcused(skipped):
    """The skipped tests that this machine could run, by the reasons that the tests give."""
    excuses = [] if os.geteuid() == 0 else ["only root "]
    excuses += [] if has_ipv6() else ["this machine has no IPv6"]
    return [line for line in skipped if not any(re.search(f'skipped: "?{excuse}', line) for excuse in excuses)]


def run(selection, bundle, logs):
    work = Run(bundle, logs, selected(selection, listed(bundle)))
    work.all()
    expected = recorded(selection)
    wrong = [target for target in sorted(expected | work.ran) if expected.get(target, 0) != work.ran[target]]
    for target in wrong:
        complain([f"tests: {target} ran {work.ran[target]} tests, but {RECORD.name} expects {expected.get(target, 0)}"])
    if wrong and not work.failures:
        complain(["tests: if tests were added or removed on purpose, run `make counts` to record the new numbers"])
    missed = unexcused(work.skipped) if selection == "all" else []
    is_short = len(missed) > 0
    if is_short:
        complain([f"tests: {len(missed)} tests were skipped; this run must run all of them", *missed])
    elif work.skipped:
        complain([f"tests: {len(work.skipped)} tests were skipped"])
    print(f"{work.passed} passed, {work.failures} failed")
    return 1 if wrong or work.failures or is_short else 0


def record(bundle):
    names = listed(bundle)
    counts = {run: collections.Counter() for run in RUNS}
    for run in RUNS:
        for suite, tests in selected(run, names).items():
            counts[run][suite.split(".")[0]] += len(tests)
    lines = [f"{'target':<25}" + "".join(f"{run:>9}" for run in RUNS)]
    lines += [f"{target:<25}" + "".join(f"{counts[run][target]:>9}" for run in RUNS) for target in sorted(counts["all"])]
    RECORD.write_text("\n".join(lines) + "\n")
    return 0


def main(words):
    if len(words) == 4 and words[0] == "run" and words[1] in RUNS:
        return run(*words[1:])
    if len(words) == 2 and words[0] == "record":
        return record(words[1])
    complain([__doc__])
    return 64


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
