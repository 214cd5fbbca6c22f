#!/usr/bin/env python3
"""Checks that every Swift sample in the guides and the README is part of a snippet, which the compiler checks.

A sample is a block fenced by ```swift. Blank lines divide it into runs, and the lines of each run must be consecutive
in a file of Snippets; indentation is ignored. A block without a language is not checked. `Scripts/mistakes.py` takes the
samples of one page from tests.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
GUIDES = sorted(set((ROOT / "Sources/Errand/Errand.docc").rglob("*.md")) - {ROOT / "Sources/Errand/Errand.docc/Mistakes.md"})
PAGES = [ROOT / "README.md", *GUIDES]
BLOCK = re.compile(r"^```swift\n(.*?)^```", re.DOTALL | re.MULTILINE)


def lines_of(text):
    """The lines that are not blank, without their indentation."""
    return [line.strip() for line in text.splitlines() if line.strip()]


def holds(snippet, run):
    """Whether the snippet contains the run, line by line."""
    return any(snippet[start : start + len(run)] == run for start in range(len(snippet) - len(run) + 1))


def main():
    snippets = [lines_of(path.read_text()) for path in sorted((ROOT / "Snippets").glob("*.swift"))]
    count, missing = 0, []
    for page in PAGES:
        text = page.read_text()
        for block in BLOCK.finditer(text):
            count += 1
            line = text.count("\n", 0, block.start(1)) + 1
            for run in re.split(r"\n\s*\n", block.group(1)):
                if not any(holds(snippet, lines_of(run)) for snippet in snippets):
                    missing.append((page.relative_to(ROOT), line, lines_of(run)[0]))
    for page, line, first in missing:
        print(
            f"{page}:{line}: this sample is in no file of Snippets, so the compiler does not check it; "
            f"add it to a snippet, or copy it from one. It starts with: {first}",
            file=sys.stderr,
        )
    if count == 0:
        print("check-samples: found no Swift sample in the guides; check PAGES", file=sys.stderr)
    if missing or count == 0:
        return 1
    print(f"samples: all {count} are in Snippets")
    return 0


sys.exit(main())
