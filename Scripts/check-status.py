#!/usr/bin/env python3
"""Checks that the status page tells of tests that exist, and of every capability; SECURITY.md of tests that exist; and
the page of errors of every code.

In the last column of its tables a suite is written as `NameTests` and a single test as "its name". A row that is done
or partly done names at least one suite, and a row that comes later names none.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "Sources/Errand/Errand.docc/Status.md"
ERRORS = ROOT / "Sources/Errand/Errand.docc/Errors.md"
PROMISES = ROOT / "SECURITY.md"
# How many rows each table has, by the letter of its rows.
ROWS = {"D": 15, "C": 11, "K": 8, "T": 5, "B": 3, "R": 4}
SUITE = re.compile(r"\b(?:struct|class|actor|enum|extension)\s+(\w+Tests)\b")
TEST = re.compile(r"\bfunc\s+`([^`]+)`\s*\(")


def faults(page, suites, tests):
    """What is wrong with the page, a sentence each."""
    for name in sorted(set(re.findall(r"`(\w+Tests)`", page)) - suites):
        if not (ROOT / "Tests" / name).is_dir():
            yield f"there is no suite {name} below Tests"
    rows = re.findall(r"^\| ([A-Z]\d+) \| [^|]+ \| ([^|]+) \| ([^|]+) \|$", page, re.MULTILINE)
    found = [row for row, _, _ in rows]
    for row in [f"{letter}{number}" for letter, count in ROWS.items() for number in range(1, count + 1)]:
        if found.count(row) != 1:
            yield f"row {row} stands there {found.count(row)} times; it has to stand there once"
    for row, state, shown in rows:
        for name in sorted(set(re.findall(r'"([^"]+)"', shown)) - tests):
            yield f'row {row}: no test below Tests has the name "{name}"'
        names_suite = re.search(r"`\w+Tests`", shown) is not None
        if not state.startswith(("done", "partly: ", "later")):
            yield f'row {row}: its state begins neither with "done" nor "partly: " nor "later"'
        elif state.startswith("later") and not state.startswith("later;") and names_suite:
            yield f"row {row} comes later and names a suite all the same"
        elif not state.startswith("later") and not names_suite and "Snippets" not in shown:
            yield f"row {row}: what is done needs a suite that shows it"


def broken_promises(page, suites, tests):
    """Which tests of the table of threats are not there."""
    for threat, defence, shown in re.findall(r"^\| ([^|]+) \| ([^|]+) \| ([^|]+) \|$", page, re.MULTILINE):
        if threat == "threat" or threat.startswith("---"):
            continue
        for name in sorted(set(re.findall(r"`(\w+Tests)`", shown)) - suites):
            yield f"{threat}: there is no suite {name} below Tests"
        for name in sorted(set(re.findall(r'"([^"]+)"', shown)) - tests):
            yield f'{threat}: no test below Tests has the name "{name}"'
        if not re.search(r"`\w+Tests`|make fuzz", shown):
            yield f"{threat}: nothing shows the defence"


def untold_codes(page):
    """The codes of errors and the kinds of failures that the page does not name."""
    core = ROOT / "Sources/ErrandCore"
    sources = [*core.glob("Failure/APIError+Codes.swift")]
    sources += (ROOT / "Sources/ErrandHTTP/Transport").glob("TransportFailure*.swift")
    sources += [core / "Transfer/Checksum.swift", core / "Reforming/Reformer.swift"]
    for code in re.findall(r'(?:Self|Kind)\(rawValue: "(\w+)"', "".join(path.read_text() for path in sources)):
        if f"`{code}`" not in page:
            yield f"the code {code} has no line"


def main():
    texts = [path.read_text() for path in (ROOT / "Tests").rglob("*.swift")]
    suites = {name for text in texts for name in SUITE.findall(text)}
    tests = {name for text in texts for name in TEST.findall(text)}
    found = [(PAGE, fault) for fault in faults(PAGE.read_text(), suites, tests)]
    found += [(PROMISES, fault) for fault in broken_promises(PROMISES.read_text(), suites, tests)]
    found += [(ERRORS, fault) for fault in untold_codes(ERRORS.read_text())]
    for page, fault in found:
        print(f"{page.relative_to(ROOT)}: {fault}", file=sys.stderr)
    if found:
        return 1
    print(f"status: all {sum(ROWS.values())} rows are there, and so are the tests they name")
    return 0


sys.exit(main())
