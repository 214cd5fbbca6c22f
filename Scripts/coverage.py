"""Prints the share of each target's lines that the tests ran, and fails if a target is below its minimum.

    python3 coverage.py LLVM-COV-JSON
"""

import collections
import json
import pathlib
import sys

# In percent, two or three points below the measured share. A target without a minimum fails: add one. Many tests of
# ErrandCommand start the built command, whose share is not measured.
FLOORS = {
    "Errand": 95, "ErrandBackground": 95, "ErrandCache": 95, "ErrandChecksum": 95, "ErrandCommand": 71, "ErrandCompression": 95, "ErrandCore": 97,
    "ErrandCurl": 95, "ErrandDecoding": 95, "ErrandEngine": 90, "ErrandGenerate": 93, "ErrandHTTP": 96, "ErrandJSON": 92, "ErrandOutbox": 90, "ErrandPublicSuffix": 80, "ErrandRecord": 93, "ErrandRedis": 95, "ErrandSupport": 90, "ErrandTLS": 90, "ErrandTelemetry": 95,
    "ErrandTesting": 96, "ErrandTestingTraits": 95, "ErrandTransfer": 96, "ErrandURLSession": 93, "ErrandXML": 90,
}


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

    below = [target for target in counted if 100 * covered[target] < FLOORS.get(target, 101) * counted[target]]
    for target in sorted(below):
        print(f"coverage: {target} is below its minimum of {FLOORS.get(target, 'none')} %", file=sys.stderr)
    missing = sorted(set(FLOORS) - set(counted))
    if missing:
        print(f"coverage: the report has no lines of {', '.join(missing)}", file=sys.stderr)
    return 1 if below or missing else 0


sys.exit(main())
