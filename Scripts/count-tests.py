"""Compares the number of tests that ran in each target with Scripts/test-counts.txt.

    count-tests.py check all|concurrent XUNIT-FILE    fails if the number of tests of a target differs
    count-tests.py update PATTERN <LIST               records the numbers; LIST is the output of `swift test list`

The numbers are exact, because a minimum would not notice that a whole target is missing from a run. `make counts` updates
them after tests were added or removed. `concurrent` are the tests that PATTERN selects for the sanitizers.
"""

import collections
import pathlib
import re
import sys
import xml.etree.ElementTree

RECORD = pathlib.Path(__file__).resolve().parent / "test-counts.txt"
RUNS = ("all", "concurrent")


def recorded(run):
    column = RUNS.index(run) + 1
    rows = (line.split() for line in RECORD.read_text().splitlines()[1:])
    return {row[0]: int(row[column]) for row in rows if int(row[column])}


def reported(report):
    cases = xml.etree.ElementTree.parse(report).iter("testcase")
    return collections.Counter(case.get("classname").split(".")[0] for case in cases)


def check(run, report):
    expected, counted = recorded(run), reported(report)
    wrong = [target for target in sorted(expected | counted) if expected.get(target, 0) != counted.get(target, 0)]
    for target in wrong:
        print(f"test: {target} ran {counted.get(target, 0)} tests, but {RECORD.name} expects {expected.get(target, 0)}")
    if wrong:
        print("test: if tests were added or removed on purpose, run `make counts` to record the new numbers")
    return 1 if wrong else 0


def update(pattern, listed):
    names = [line.strip() for line in listed if re.match(r"\w+\.\S", line)]
    everything = collections.Counter(name.split(".")[0] for name in names)
    concurrent = collections.Counter(name.split(".")[0] for name in names if re.search(pattern, name))
    lines = [f"{'target':<25} {'all':>6} {'concurrent':>11}"]
    lines += [f"{target:<25} {everything[target]:>6} {concurrent[target]:>11}" for target in sorted(everything)]
    RECORD.write_text("\n".join(lines) + "\n")
    return 0


def main(words):
    if len(words) == 3 and words[0] == "check" and words[1] in RUNS:
        return check(words[1], words[2])
    if len(words) == 2 and words[0] == "update":
        return update(words[1], sys.stdin)
    print(__doc__, file=sys.stderr)
    return 64


sys.exit(main(sys.argv[1:]))
