#!/usr/bin/env python3
"""Makes the guide page "Mistakes" from the tests in Tests/ErrandTests/Mistakes, which prove every sentence on it.

Each test has the mistake between the comments "The mistake:" and "What Errand says:", and then an expected error or
warning. With --check, the script only reports whether the page, and the number of mistakes in other texts, are up to
date.
"""

import pathlib
import re
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent
TESTS = ROOT / "Tests/ErrandTests/Mistakes"
PAGE = ROOT / "Sources/Errand/Errand.docc/Mistakes.md"
# Texts that say how many mistakes the page has.
MENTIONS = ["README.md", "Sources/Errand/Errand.docc/Errors.md"]
SECTIONS = {
    "Declaring": "In the declaration of a request",
    "Building": "In the values of a request",
    "Server": "About the server",
    "Reading": "In the response type",
    "File": "With files and the cache",
}
INTRODUCTION = """# Mistakes

The messages of Errand about frequent mistakes of beginners.

## Overview

An error names what is wrong and, if there is one, the cure. A warning is about something that Swift accepts, but that
hardly does what was meant. A debug build writes it once for each request type, to the client's `log` or else to the
standard error output.

`Scripts/mistakes.py` makes this page from tests, so each sentence is what this version says. `answer` is the response
of the test's server, and `client` is a client that only the mistake needs.
"""
SUITE = re.compile(r"^/// (.*)\nstruct \w+MistakeTests", re.MULTILINE)
CALL = re.compile(
    r"\.(?:says\(\s*\.(?P<code>\w+)|(?P<warns>warns)\().*?(?P<text>\"\"\"\n.*?\"\"\"|\"[^\n]*\")\s*\)", re.DOTALL
)


def literal(text):
    """The value of a Swift string literal without interpolation."""
    if text.startswith('"""'):
        lines = textwrap.dedent(text[4:-3].rstrip(" ")).split("\n")
        return "\n".join(lines).replace("\\\n", "").strip("\n").replace("\\\\", "\\")
    return text[1:-1].replace('\\"', '"').replace("\\\\", "\\")


def section(name, heading):
    """The part of the page for one file of tests, and the number of its mistakes."""
    path = TESTS / f"{name}MistakeTests.swift"
    source = path.read_text()
    parts = [f"## {heading}\n\n{SUITE.search(source).group(1)}\n"]
    tests = re.split(r"^  @Test func ", source, flags=re.MULTILINE)[1:]
    for test in tests:
        title = re.match(r"`([^`]+)`", test).group(1)
        found = re.search(r"// The mistake:\n(.*?)^ *// What Errand says:\n(.*)", test, re.DOTALL | re.MULTILINE)
        call = found and CALL.search(found.group(2))
        if not call:
            sys.exit(f"{path.relative_to(ROOT)}: the test “{title}” has no mistake or no sentence; see MistakeClient.swift")
        kind = "Warning" if call["warns"] else f"Error `{call['code']}`"
        code = textwrap.dedent(found.group(1)).strip()
        parts.append(f"### {title}\n\n```swift\n{code}\n```\n\n> {kind}: {literal(call['text'])}\n")
    return parts, len(tests)


def main():
    unknown = {path.name.removesuffix("MistakeTests.swift") for path in TESTS.glob("*MistakeTests.swift")} - set(SECTIONS)
    if unknown:
        sys.exit(f"mistakes: add a heading for {', '.join(sorted(unknown))} to SECTIONS in Scripts/mistakes.py")
    parts, count = [INTRODUCTION], 0
    for name, heading in SECTIONS.items():
        more, tests = section(name, heading)
        parts += more
        count += tests
    text = "\n".join(parts)
    if "--check" not in sys.argv:
        PAGE.write_text(text)
    elif not PAGE.exists() or PAGE.read_text() != text:
        sys.exit("mistakes: the page Mistakes.md is out of date; run Scripts/mistakes.py")
    for name in MENTIONS:
        for number in re.findall(r"(\d+)\s+mistakes", (ROOT / name).read_text()):
            if int(number) != count:
                sys.exit(f"mistakes: {name} says {number} mistakes, but the page has {count}")
    print(f"mistakes: {count} on the page")


main()
