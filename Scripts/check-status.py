#!/usr/bin/env python3
"""Checks that the status page has every capability, that it and SECURITY.md name only tests that exist, and that the
page of errors has every code.

In the last column of a table a suite is written as `NameTests` and a single test as "its name". A row that is done or
partly done names at least one suite, and a row for later names none.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "Sources/Errand/Errand.docc/Status.md"
ERRORS = ROOT / "Sources/Errand/Errand.docc/Errors.md"
PROMISES = ROOT / "SECURITY.md"
# The number of rows of each table, by the letter of its rows.
ROWS = {"D": 15, "C": 12, "K": 8, "T": 5, "B": 3, "R": 8}
SUITE = re.compile(r"\b(?:struct|class|actor|enum|extension)\s+(\w+Tests)\b")
TEST = re.compile(r"\bfunc\s+`([^`]+)`\s*\(")


def faults(page, suites, tests):
    """Yields the faults of the page, one sentence each."""
    for name in sorted(set(re.findall(r"`(\w+Tests)`", page)) - suites):
        if not (ROOT / "Tests" / name).is_dir():
            yield f"no suite below Tests has the name {name}"
    rows = re.findall(r"^\| ([A-Z]\d+) \| [^|]+ \| ([^|]+) \| ([^|]+) \|$", page, re.MULTILINE)
    found = [row for row, _, _ in rows]
    for row in [f"{letter}{number}" for letter, count in ROWS.items() for number in range(1, count + 1)]:
        if found.count(row) != 1:
            yield f"row {row} occurs {found.count(row)} times; it must occur once"
    for row, state, shown in rows:
        for name in sorted(set(re.findall(r'"([^"]+)"', shown)) - tests):
            yield f'row {row}: no test below Tests has the name "{name}"'
        names_suite = re.search(r"`\w+Tests`", shown) is not None
        if not state.startswith(("done", "partly: ", "later")):
            yield f'row {row}: its state must start with "done", "partly: " or "later"'
        elif state.startswith("later") and not state.startswith("later;") and names_suite:
            yield f"row {row} is for later but names a suite; remove the suite or change the state"
        elif not state.startswith("later") and not names_suite and "Snippets" not in shown:
            yield f"row {row} is done but names no suite; name the suite that tests it"


def broken_promises(page, suites, tests):
    """Yields the tests in the table of threats that do not exist."""
    for threat, defence, shown in re.findall(r"^\| ([^|]+) \| ([^|]+) \| ([^|]+) \|$", page, re.MULTILINE):
        if threat == "threat" or threat.startswith("---"):
            continue
        for name in sorted(set(re.findall(r"`(\w+Tests)`", shown)) - suites):
            yield f"{threat}: no suite below Tests has the name {name}"
        for name in sorted(set(re.findall(r'"([^"]+)"', shown)) - tests):
            yield f'{threat}: no test below Tests has the name "{name}"'
        if not re.search(r"`\w+Tests`|make fuzz", shown):
            yield f"{threat}: no suite tests the defence"


def untold_codes(page):
    """Yields the error codes and failure kinds that the page does not name."""
    core = ROOT / "Sources/ErrandCore"
    sources = [*core.glob("Failure/APIError+Codes.swift")]
    sources += (ROOT / "Sources/ErrandHTTP/Transport").glob("TransportFailure*.swift")
    sources += [core / "Transfer/Checksum.swift", core / "Reforming/Reformer.swift"]
    for code in re.findall(r'(?:Self|Kind)\(rawValue: "(\w+)"', "".join(path.read_text() for path in sources)):
        if f"`{code}`" not in page:
            yield f"the code {code} is missing"


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
    print(f"status: all {sum(ROWS.values())} rows and the tests that they name exist")
    return 0


sys.exit(main())
