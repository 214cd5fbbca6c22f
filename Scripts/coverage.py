"""Prints how much of each target's lines the tests ran: python3 coverage.py LLVM-COV-JSON."""

import collections
import json
import pathlib
import sys


def main():
    sources = pathlib.Path(__file__).resolve().parent.parent / "Sources"
    report = json.loads(pathlib.Path(sys.argv[1]).read_text())
    counted, covered = collections.Counter(), collections.Counter()
    for file in report["data"][0]["files"]:
        path = pathlib.Path(file["filename"])
        if not path.is_relative_to(sources):
            continue
        target = path.relative_to(sources).parts[0]
        counted[target] += file["summary"]["lines"]["count"]
        covered[target] += file["summary"]["lines"]["covered"]

    print(f"{'target':<16} {'lines':>7} {'covered':>8} {'%':>6}")
    rows = [(target, counted[target], covered[target]) for target in sorted(counted)]
    rows.append(("all", sum(counted.values()), sum(covered.values())))
    for target, lines, ran in rows:
        share = f"{100 * ran / lines:.1f}" if lines else "–"
        print(f"{target:<16} {lines:>7} {ran:>8} {share:>6}")


main()
