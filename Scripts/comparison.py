#!/usr/bin/env python3
"""Counts the lines of the five tasks in Examples/Comparison, and writes them into the guide page "Five tasks compared".

With --check, the script only reports whether the page is up to date. With --compile ALAMOFIRE MOYA, it compiles the
files for Alamofire and Moya against checkouts of these libraries; the package compiles the other two.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDER = ROOT / "Examples/Comparison"
PAGE = ROOT / "Sources/Errand/Errand.docc/FiveTasks.md"
FILES = {
    "Errand": "ErrandTasks.swift",
    "Alamofire": "Others/AlamofireTasks.swift",
    "Moya": "Others/MoyaTasks.swift",
    "URLSession": "URLSessionTasks.swift",
}
ROWS = [
    "set up",
    "1. read a typed value",
    "2. send JSON, and read why it is rejected",
    "3. upload a file with progress",
    "4. renew a token once for all waiting calls",
    "5. keep a list for five minutes",
]
BEGIN, END = "<!-- the table, by Scripts/comparison.py -->\n", "<!-- end of the table -->\n"


def counts(name):
    """The numbers of lines before the first task and of each task, without blank lines, comments and closing braces
    of the file."""
    parts = re.split(r"^  // MARK: \d\n", (FOLDER / FILES[name]).read_text(), flags=re.MULTILINE)
    if len(parts) != len(ROWS):
        sys.exit(f"comparison: {FILES[name]} has {len(parts) - 1} tasks instead of {len(ROWS) - 1}")
    lines = [[line.strip() for line in part.splitlines()] for part in parts]
    lines[-1] = lines[-1][: len(lines[-1]) - 1 - lines[-1][::-1].index("}")]
    return [sum(bool(line) and not line.startswith("//") for line in part) for part in lines]


def table():
    """The table of the page."""
    numbers = {name: counts(name) for name in FILES}
    rows = [f"| | {' | '.join(FILES)} |", f"|---|{'---|' * len(FILES)}"]
    for index, row in enumerate(ROWS):
        rows.append(f"| {row} | {' | '.join(str(numbers[name][index]) for name in FILES)} |")
    rows.append(f"| all | {' | '.join(str(sum(numbers[name])) for name in FILES)} |")
    return "\n".join(rows) + "\n"


# Moya 15 neither compiles on Linux nor knows Sendable. These changes to a copy leave its interface as it is.
MOYA_CHANGES = [
    ("NSEC_PER_SEC", "1_000_000_000"),
    ("forKeyPath:", "forKey:"),
    ("public let fileManager: FileManager", "public var fileManager: FileManager { .default }"),
    ("self.fileManager = fileManager", ""),
]


def moya_for_linux(name, text):
    """A file of Moya, changed so that it compiles on Linux."""
    if not sys.platform.startswith("linux"):
        return text
    if name == "Image.swift":
        return "import Foundation\npublic struct Image { public init?(data: Data) { return nil } }\n"
    for old, new in MOYA_CHANGES:
        text = text.replace(old, new)
    return "import Foundation\nimport FoundationNetworking\n" + text


def compile_others(alamofire, moya):
    """Compiles the libraries and the files for them, as a package in a temporary folder."""
    with tempfile.TemporaryDirectory() as folder:
        package = pathlib.Path(folder)
        for name, sources in {"Alamofire": alamofire + "/Source", "Moya": moya + "/Sources/Moya"}.items():
            (package / "Sources" / name).parent.mkdir(exist_ok=True)
            subprocess.run(["cp", "-r", sources, package / "Sources" / name], check=True)
        for name in ["Alamofire", "Moya"]:
            target = package / "Sources" / f"{name}Tasks"
            target.mkdir()
            for source in [FILES[name], "FiveTasks.swift"]:
                (target / pathlib.Path(source).name).write_text((FOLDER / source).read_text())
        for path in (package / "Sources/Moya").rglob("*.swift"):
            path.write_text(moya_for_linux(path.name, path.read_text()))
        (package / "Package.swift").write_text(
            """// swift-tools-version: 6.0
import PackageDescription
let package = Package(name: "Others", platforms: [.macOS(.v15)], targets: [
  .target(
    name: "Alamofire", exclude: ["Info.plist", "PrivacyInfo.xcprivacy"], swiftSettings: [.swiftLanguageMode(.v5)]),
  .target(name: "Moya", dependencies: ["Alamofire"], swiftSettings: [.swiftLanguageMode(.v5)]),
  .target(name: "AlamofireTasks", dependencies: ["Alamofire"]),
  .target(
    name: "MoyaTasks", dependencies: ["Alamofire", "Moya"], swiftSettings: [.swiftLanguageMode(.v5)]),
])
"""
        )
        subprocess.run(["swift", "build", "--package-path", folder], check=True)


def main():
    if "--compile" in sys.argv:
        return compile_others(*sys.argv[sys.argv.index("--compile") + 1 :][:2])
    text = PAGE.read_text()
    begin, end = text.index(BEGIN) + len(BEGIN), text.index(END)
    new = text[:begin] + table() + text[end:]
    if "--check" not in sys.argv:
        PAGE.write_text(new)
    elif new != text:
        sys.exit("comparison: the table in FiveTasks.md is out of date; run Scripts/comparison.py")
    print("comparison: the table is up to date")


main()
