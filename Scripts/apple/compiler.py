"""Compiles units with the compiler of Linux, as a compiler for an Apple platform would check them."""

import concurrent.futures
import dataclasses
import os
import pathlib
import shutil
import subprocess

from conditions import regions
from units import Failure

# All diagnostics of the compiler run. These passes, which only prepare machine code, would load code of the C library
# of Linux, which is hidden.
SKIPPED_PASSES = ["mandatory-inlining", "mandatory-linker", "onone-simplification", "inline-always-inlining"]
# Macros that C headers may test, and that Apple platforms do not define.
LINUX_MACROS = ["__linux__", "__linux", "linux"]
PROCESSES = os.cpu_count() or 2


class Compiler:
    """Compiles units into a scratch folder, which has a folder for each platform."""

    def __init__(self, root, manifest, scratch):
        self.root = root
        self.manifest = manifest
        self.scratch = scratch
        # The folder of the toolchain. Its `swiftc` may be a symbolic link on the PATH.
        self.toolchain = pathlib.Path(shutil.which("swiftc") or "").resolve().parent.parent
        # For each digest the first platform with it, and the compiled module.
        self.compiled = {}

    def modules(self, unit):
        """The folder with the modules of the unit's platform."""
        return self.scratch / unit.platform.name / "Modules"

    def command(self, unit):
        command = ["swiftc", "-frontend", "-module-name", unit.name, "-package-name", self.manifest.name]
        command += ["-I", str(self.modules(unit)), "-module-cache-path", str(self.scratch / "cache"), *unit.flags]
        for name in sorted(unit.platform.package):
            module_map = self.root / self.manifest.folder(name) / "module.modulemap"
            if module_map.exists():
                command += ["-Xcc", f"-fmodule-map-file={module_map}"]
        for macro in LINUX_MACROS:
            command += ["-Xcc", f"-U{macro}"]
        for name in SKIPPED_PASSES:
            command += ["-Xllvm", f"-sil-disable-pass={name}"]
        for plugins in ("plugins", "plugins/testing"):
            command += ["-plugin-path", str(self.toolchain / "lib/swift/host" / plugins)]
        # A file named main.swift and a snippet have code outside of functions.
        if not any(path.name == "main.swift" or path.parts[0] == "Snippets" for path in unit.texts):
            command.append("-parse-as-library")
        return command

    @staticmethod
    def run(command, folder):
        return subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace")

    @staticmethod
    def write(unit, folder):
        for path, text in unit.texts.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text)

    def compile(self, unit):
        """Compiles a module, unless the same text was compiled for another platform."""
        target = self.modules(unit) / f"{unit.name}.swiftmodule"
        target.parent.mkdir(parents=True, exist_ok=True)
        if unit.key in self.compiled:
            shutil.copy(self.compiled[unit.key][1], target)
            return
        folder = self.scratch / unit.platform.name
        self.write(unit, folder)
        done = self.run(self.command(unit) + ["-emit-module", "-o", str(target), *map(str, unit.texts)], folder)
        if done.returncode != 0:
            raise Failure(f"{unit.name} does not compile for {unit.platform.name}:\n{done.stderr.strip()}")
        self.compiled[unit.key] = (unit.platform.name, target)

    def is_first(self, unit):
        """Whether the text of the unit was compiled for its own platform and not for another one before."""
        return self.compiled[unit.key][0] == unit.platform.name

    def compile_all(self, units):
        """Compiles the units side by side, each one after its dependencies."""
        waiting, running, done = {unit.name: unit for unit in units}, {}, set()
        names = set(waiting)
        with concurrent.futures.ThreadPoolExecutor(PROCESSES) as pool:
            while waiting or running:
                for name, unit in list(waiting.items()):
                    if names.intersection(unit.dependencies) <= done:
                        running[pool.submit(self.compile, waiting.pop(name))] = name
                finished, _ = concurrent.futures.wait(running, return_when=concurrent.futures.FIRST_COMPLETED)
                for future in finished:
                    try:
                        future.result()
                    except Failure:
                        pool.shutdown(cancel_futures=True)
                        raise
                    done.add(running.pop(future))

    def break_all(self, units):
        """Adds an undefined name to each Apple-only region of copies of the units. Returns the number of regions.

        Fails if the compiler does not find one of the names.
        """
        with concurrent.futures.ThreadPoolExecutor(PROCESSES) as pool:
            return sum(pool.map(self.break_one, units))

    def break_one(self, unit):
        broken, marks = dict(unit.texts), {}
        for path, numbers in unit.apple_only.items():
            lines = unit.texts[path].split("\n")
            for first, last in reversed(regions(lines, self.with_blanks(lines, numbers))):
                mark = f"undefinedName{len(marks)}"
                marks[mark] = f"{path}:{first}"
                lines.insert(last, f"func errandGate{len(marks)}() {{ _ = {mark} }}")
            broken[path] = "\n".join(lines)
        if not marks:
            return 0
        folder = self.scratch / f"{unit.platform.name}-broken"
        self.write(dataclasses.replace(unit, texts=broken), folder)
        command = self.command(unit) + ["-typecheck"]
        for path in broken:
            command += ["-primary-file", str(path)] if path in unit.apple_only else [str(path)]
        errors = self.run(command, folder).stderr
        for mark, place in marks.items():
            if f"cannot find '{mark}' in scope" not in errors:
                raise Failure(f"{place}: the compiler does not find an undefined name here, so the check shows nothing")
        return len(marks)

    @staticmethod
    def with_blanks(lines, numbers):
        """The line numbers and those of the blank lines between them, so that a region with blank lines stays whole."""
        return {number for number in range(min(numbers), max(numbers) + 1)
                if number in numbers or not lines[number - 1].strip()}
