#!/usr/bin/env python3
"""Checks on Linux that the package compiles for Apple platforms, as far as that is possible without an Apple SDK.

1. The manifest: which C libraries the products link on each Apple platform.
2. Each Swift file is parsed for an Apple target.
3. Each target, and each sample with Apple-only code, is compiled as each Apple platform selects its code. The modules
   of Apple are the stubs in Scripts/apple/stubs, which contain what the sources use and follow Apple's documentation.
4. Each line that only Apple platforms compile must have been compiled in step 3.
5. The check checks itself: it adds an undefined name to each region of such lines, in a copy. The compiler must find
   each one.

Not checked: the availability of API in the versions of Apple's systems, and what the stubs say.
If the compiler does not find a declaration of Apple, add it to the stubs, with the page that describes it.
"""

import os
import pathlib
import shutil
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "Scripts/apple"))

from compiler import Compiler  # noqa: E402
from manifest import SYSTEM_LIBRARIES, Manifest  # noqa: E402
from units import APPLE_PLATFORMS, ONLY_ON_MACOS, STUB_MODULES, Failure, Units  # noqa: E402

# The targets for which the files are parsed.
PARSED = {"macos": "arm64-apple-macosx{}", "ios": "arm64-apple-ios{}"}


def say(text):
    print(text, flush=True)


class Gate:
    def __init__(self, root, scratch):
        self.root = root
        self.manifest = Manifest(root)
        self.units = Units(root, self.manifest)
        self.compiler = Compiler(root, self.manifest, scratch)

    def check_manifest(self):
        """Fails if a product links a library that its Apple platform does not have. Prints what the products link."""
        if faults := [fault for system in APPLE_PLATFORMS.values() for fault in self.manifest.faults(system)]:
            raise Failure("\n".join(faults))
        for name, system in APPLE_PLATFORMS.items():
            linked = [f"{product} ({', '.join(libraries) or 'none'})"
                      for product, libraries in self.manifest.libraries(system)]
            say(f"  {name}: {', '.join(linked)}")
        for name, (reason, _) in SYSTEM_LIBRARIES.items():
            say(f"  {name}: {reason}")

    def parse(self):
        """Parses all files for the targets of Apple's compiler."""
        files = self.units.files()
        for system, triple in PARSED.items():
            target = triple.format(self.manifest.deployment[system])
            command = ["swiftc", "-frontend", "-parse", "-swift-version", "6", "-target", target]
            # A snippet is a program, so the compiler must see it alone.
            snippets = [[path] for path in files if path.parts[0] == "Snippets"]
            for paths in [[path for path in files if [path] not in snippets], *snippets]:
                done = self.compiler.run(command + [str(path) for path in paths], self.root)
                if done.returncode != 0:
                    raise Failure(f"a file cannot be parsed for {target}:\n{done.stderr.strip()}")
            say(f"  {len(files)} files for {target}")

    def compile(self, name):
        """Compiles the stubs and all targets for a platform. Prints what was checked, and returns the units."""
        keys = {}
        stubs = [self.units.stub(module, name) for module in STUB_MODULES]
        system = APPLE_PLATFORMS[name]
        units = [self.units.unit(target, name) for target in self.units.compiled_targets(name)]
        for unit in stubs + units:
            unit.seal(keys)
        reachable = self.reachable(system)
        if system != "macos":
            self.check_names(unit for unit in units if unit.name in reachable)
        self.compiler.compile_all(stubs + units)
        self.report(name, units, reachable)
        return units

    def reachable(self, system):
        """The targets in products of a platform."""
        targets = [target for _, targets in self.manifest.apple_products(system) for target in targets]
        return self.manifest.closure(targets, system)

    @staticmethod
    def check_names(units):
        """Fails if code for a platform other than macOS uses a part of Foundation that only macOS has."""
        for unit in units:
            for path, text in unit.texts.items():
                for number, line in enumerate(text.split("\n"), 1):
                    if match := ONLY_ON_MACOS.search(line.split("//")[0]):
                        raise Failure(f"{path}:{number}: {unit.platform.name} does not have {match.group(1)}")

    def report(self, name, units, reachable):
        new = [unit for unit in units if self.compiler.is_first(unit)]
        for unit in new:
            note = "nothing to compile on this platform" if unit.is_empty else ""
            if unit.name not in reachable and not note:
                note = "a sample" if self.manifest.is_snippet(unit.name) else "in no product of this platform"
            say(f"  {name} {unit.name:<20} {len(unit.texts):>4} files, {unit.apple_lines:>4} Apple-only lines in "
                f"{len(unit.apple_only)}" + (f" ({note})" if note else ""))
        files, lines = sum(len(unit.texts) for unit in units), sum(unit.apple_lines for unit in units)
        same = len(units) - len(new)
        say(f"  {name}: {len(units)} targets, {files} files, {lines} Apple-only lines"
            + (f"; {same} targets have the same code as on a platform above" if same else ""))

    def check_coverage(self, checked):
        """Fails if code that only Apple platforms compile was compiled on no platform. Returns the number of lines."""
        if strays := list(self.units.strays()):
            raise Failure(f"{strays[0]} belongs to no target, so it is not checked")
        compiled = {}
        for unit in checked:
            for path, numbers in unit.apple_only.items():
                compiled.setdefault(path, set()).update(numbers)
        total = 0
        for target in self.units.targets:
            for path, numbers in self.units.apple_only(target).items():
                if missing := sorted(numbers - compiled.get(path, set())):
                    raise Failure(
                        f"{path}:{missing[0]}: no run compiles this code, which is for Apple platforms; add its "
                        "platform or flag in Scripts/apple/units.py")
                total += len(numbers)
        return total

    def check_itself(self, checked):
        """Breaks each Apple-only region in a copy. Returns the number of regions."""
        count = self.compiler.break_all(unit for unit in checked if self.compiler.is_first(unit))
        if count == 0:
            raise Failure("there is no Apple-only code to break, so the check shows nothing")
        return count


def test_scripts():
    """Runs the unit tests of Scripts/apple."""
    tests = unittest.defaultTestLoader.discover(str(ROOT / "Scripts/apple"), pattern="*_test.py")
    with open(os.devnull, "w") as silence:
        result = unittest.TextTestRunner(stream=silence).run(tests)
    if problems := result.failures + result.errors:
        raise Failure(f"a test of Scripts/apple failed:\n{problems[0][1]}")
    if result.testsRun == 0:
        raise Failure("the tests of Scripts/apple are missing")
    say(f"  {result.testsRun} tests")


def check(root, scratch):
    begin = time.monotonic()
    say("apple: the tests of the check")
    test_scripts()
    gate = Gate(root, scratch)
    if uncited := list(gate.units.uncited()):
        raise Failure("\n".join(uncited))
    say("apple: the products and the C libraries that they link")
    gate.check_manifest()
    say("apple: parsing")
    gate.parse()
    say("apple: compiling against the stubs")
    checked = [unit for name in APPLE_PLATFORMS for unit in gate.compile(name)]
    lines = gate.check_coverage(checked)
    regions = gate.check_itself(checked)
    say(f"apple: all {lines} Apple-only lines were compiled; the compiler found an undefined name in each of their "
        f"{regions} regions; {time.monotonic() - begin:.0f} s")


def main():
    scratch = pathlib.Path(tempfile.mkdtemp(prefix="errand-apple-"))
    try:
        check(ROOT, scratch)
        return 0
    except Failure as failure:
        print(f"apple: {failure}", file=sys.stderr)
        return 1
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
