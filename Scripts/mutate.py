"""Changes decisions of the library one at a time and reports which changes no test notices.

    mutate.py --check                  checks that every mutant of Scripts/mutants.txt still fits its file
    mutate.py [--only TEXT] [--jobs N] [--tests PATTERN] [--tree FOLDER]

All mutants are compiled into one build, each behind a switch, so a run builds once. The environment variable
ERRAND_MUTANT selects one. A mutant is killed if a test fails, the process ends early, or the tests take more than
twice the time without a mutant and a minute. `--only` takes the mutants whose number, file or text contains TEXT; `--tests` replaces the patterns
of the list.

Scripts/mutants.txt has a section for each source file:

    file: Sources/ErrandCore/…/RetryDecision.swift
    tests: RetryDecision
    then: Retry|Hedge
    guard «attempt < limit => attempt <= limit» else
    «isOpen => true»                              # survives: why no test can notice it

`then` is optional: more tests, run for a mutant that survives the first ones. The text around « » must occur once in
the file. An empty replacement removes the statement.
"""

import argparse
import concurrent.futures
import contextlib
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIST = ROOT / "Scripts" / "mutants.txt"
# The longest time in seconds for the tests of a pattern without a mutant.
LONGEST = 600
GOAL = 0.97
SWITCH = """import Foundation

private let selected = ProcessInfo.processInfo.environment["ERRAND_MUTANT"].flatMap(Int.init) ?? 0

/// Whether the mutant of this number is the one to run.
package func isMutant(_ number: Int) -> Bool { selected == number }
"""


class Mutant:
    def __init__(self, number, file, tests, line):
        self.number, self.file, self.tests = number, file, list(tests)
        line, _, reason = line.partition("# survives: ")
        self.reason = reason.strip()
        self.text = line.strip()
        parts = re.fullmatch(r"(.*)«(.*?) =>(?: (.*?))?»(.*)", self.text)
        if not parts:
            sys.exit(f"mutate: {LIST.name}: cannot read \"{self.text}\"")
        self.before, self.original, self.replacement, self.behind = (part or "" for part in parts.groups())
        if self.replacement and has_bare_comma(self.original):
            sys.exit(f"mutate: \"{self.original}\" is more than one expression; mark a part without the comma")
        if self.replacement and re.fullmatch(r"[-=!<>&|+*/%^~]{1,3}", self.original):
            sys.exit(f"mutate: \"{self.original}\" is an operator; mark the whole expression in \"{self.text}\"")

    def span(self, source):
        """The range of the original text in the file. Exits if the text does not occur exactly once."""
        whole = self.before + self.original + self.behind
        found = [match.start() for match in re.finditer(re.escape(whole), source)]
        if len(found) != 1:
            sys.exit(f"mutate: {self.file} contains \"{whole}\" {len(found)} times; correct {LIST.name}")
        start = found[0] + len(self.before)
        return start, start + len(self.original)


def has_bare_comma(text):
    """Whether a comma is outside all brackets, as between the conditions of a guard."""
    depth = 0
    for character in re.sub(r'"[^"]*"', "", text):
        depth += (character in "([{") - (character in ")]}")
        if character == "," and depth == 0:
            return True
    return False


def read_list():
    mutants, file, tests = [], None, []
    for line in LIST.read_text().splitlines():
        if line.startswith("file: "):
            file = line[6:].strip()
        elif line.startswith("tests: "):
            tests = [line[7:].strip()]
        elif line.startswith("then: "):
            tests = [*tests, line[6:].strip()]
        elif line.strip() and not line.startswith("#"):
            mutants.append(Mutant(len(mutants) + 1, file, tests, line))
    return mutants


def switched(source, spans, start, end):
    """The text from start to end with each span replaced by its switch. Spans may lie inside each other."""
    text, place = "", start
    outer = None
    for span in sorted(spans, key=lambda span: (span[0], -span[1])):
        if span[0] < start or span[1] > end or (span[0], span[1]) == (start, end):
            continue
        if outer and span[0] < outer[1]:
            if span[1] > outer[1]:
                sys.exit(f"mutate: two mutants overlap at \"{source[span[0]:span[1]]}\"")
            continue
        outer = span
        text += source[place:span[0]] + choice(source, spans, span)
        place = span[1]
    return text + source[place:end]


def choice(source, spans, span):
    text = switched(source, spans, *span)
    statements = [mutant for mutant in spans[span] if not mutant.replacement]
    for mutant in statements:
        text = f"if !isMutant({mutant.number}) {{ {text} }}"
    if statements:
        return text
    for mutant in spans[span]:
        text = f"(isMutant({mutant.number}) ? {mutant.replacement} : {text})"
    return text


def mutated(path, mutants):
    source = path.read_text()
    spans = {}
    for mutant in mutants:
        spans.setdefault(mutant.span(source), []).append(mutant)
    text = switched(source, spans, 0, len(source))
    return text if "import ErrandSupport" in text else "import ErrandSupport\n" + text


def lay_out(tree, mutants):
    """Copies the project's files into the tree and adds the switches. Unchanged files keep their modification time."""
    names = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\n")
    by_file = {}
    for mutant in mutants:
        by_file.setdefault(mutant.file, []).append(mutant)
    wanted = {name: (ROOT / name).read_bytes() for name in names if (ROOT / name).is_file()}
    wanted |= {name: mutated(ROOT / name, group).encode() for name, group in by_file.items()}
    wanted["Sources/ErrandSupport/Mutants.swift"] = SWITCH.encode()
    for kept in [path for path in tree.glob("*/**/*.swift") if ".build" not in path.parts]:
        if str(kept.relative_to(tree)) not in wanted:
            kept.unlink()
    for name, content in wanted.items():
        path = tree / name
        if not path.exists() or path.read_bytes() != content:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
            if (ROOT / name).exists():
                shutil.copymode(ROOT / name, path)


def run(tree, number, pattern, limit=LONGEST):
    """The result of the tests: "passed", or how the mutant was killed."""
    # Killed tests leave their temporary files. Other users can read the folder: a test continues as another user.
    with tempfile.TemporaryDirectory(prefix="errand-tests-", ignore_cleanup_errors=True) as folder:
        os.chmod(folder, 0o755)
        return run_with(folder, tree, number, pattern, limit)


def run_with(folder, tree, number, pattern, limit):
    """The result of the tests with a folder for temporary files."""
    program = tree / ".build" / "debug" / "ErrandPackageTests.xctest"
    command = [program, "--testing-library", "swift-testing", "--no-parallel", "--filter", pattern]
    environment = os.environ | {"ERRAND_MUTANT": str(number), "SWIFT_BACKTRACE": "enable=no", "NO_COLOR": "1"}
    environment["TMPDIR"] = folder
    process = subprocess.Popen(
        command, cwd=tree, env=environment, text=True, errors="replace", start_new_session=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    timer = threading.Timer(limit, end, [process])
    timer.start()
    result, ran = "killed: the process ended", False
    for line in process.stdout:
        if failed := re.search(r"✘ Test \"?(.*?)\"? recorded an issue", line):
            # One failed test kills the mutant; the rest would only take time.
            result = f"killed: {failed.group(1)}"
            end(process)
            break
        ran = ran or bool(re.search(r"Test run with [1-9]", line))
    status = process.wait()
    if status == 0:
        result = "passed" if ran else "no test ran"
    elif timer.finished.is_set() and result == "killed: the process ended":
        result = "killed: tests did not end in time"
    timer.cancel()
    return result


def end(process):
    """Kills the tests and all processes in their group."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def measured(tree, pattern):
    """The time in seconds of the tests without a mutant, which must pass."""
    begin = time.monotonic()
    if (result := run(tree, 0, pattern)) != "passed":
        sys.exit(f"mutate: without a mutant the tests \"{pattern}\" must pass, but the result is: {result}")
    return time.monotonic() - begin


def result_of(tree, mutant, times):
    for pattern in mutant.tests:
        if (result := run(tree, mutant.number, pattern, 2 * times[pattern] + 60)) != "passed":
            break
    return result


def judge(tree, mutants, jobs):
    """Runs every mutant. Returns the survivors in order."""
    survivors = []
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        patterns = sorted({pattern for mutant in mutants for pattern in mutant.tests})
        times = dict(zip(patterns, pool.map(lambda pattern: measured(tree, pattern), patterns)))
        results = pool.map(lambda mutant: result_of(tree, mutant, times), mutants)
        for mutant, result in zip(mutants, results):
            if result == "passed":
                survivors.append(mutant)
                result = f"SURVIVED {mutant.reason and '(known)'}"
            print(f"{mutant.number:>4} {pathlib.Path(mutant.file).name}: {mutant.text}\n     {result}", flush=True)
    return survivors


def report(mutants, survivors):
    share = 1 - len(survivors) / len(mutants)
    print(f"mutate: {len(mutants)} mutants, {len(mutants) - len(survivors)} killed ({100 * share:.1f} %)")
    for mutant in survivors:
        print(f"  survived: {mutant.number} {mutant.file}: {mutant.text}")
        print(f"            {mutant.reason or 'no reason is recorded: add a test, or the reason'}")
    return 0 if share >= GOAL and all(mutant.reason for mutant in survivors) else 1


def processors():
    """The number of processors that this process may use, which may be fewer than the machine has."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def main():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--check", action="store_true")
    words.add_argument("--only")
    words.add_argument("--jobs", type=int, default=processors())
    words.add_argument("--tests")
    words.add_argument("--tree", type=pathlib.Path, default=ROOT / ".build-mutants")
    words = words.parse_args()
    everything = read_list()
    by_file = {}
    for mutant in everything:
        by_file.setdefault(mutant.file, []).append(mutant)
    for file, group in by_file.items():
        mutated(ROOT / file, group)
    if words.check:
        print(f"mutate: {len(everything)} mutants in {len(by_file)} files fit")
        return 0
    chosen = [m for m in everything if not words.only or words.only in f"#{m.number}# {m.file} {m.text}"]
    for mutant in chosen:
        mutant.tests = [words.tests] if words.tests else mutant.tests
    lay_out(words.tree, everything)
    build = ["swift", "build", "--product", "ErrandPackageTests", "-debug-info-format", "none"]
    subprocess.run(build, cwd=words.tree, check=True)
    return report(chosen, judge(words.tree, chosen, words.jobs))


if __name__ == "__main__":
    sys.exit(main())
