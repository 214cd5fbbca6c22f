"""The targets as a platform compiles them: their files with the code that the platform conditions select."""

import dataclasses
import hashlib
import pathlib
import re

from conditions import Platform, Unknown, active_lines, apple_only_lines
from delegates import strangers

# The Apple platforms, with their names in the manifest.
APPLE_PLATFORMS = {"macOS": "macos", "iOS": "ios", "tvOS": "tvos", "watchOS": "watchos", "visionOS": "visionos"}
# The custom flags. Code for a debug build is checked on macOS, and code for a release build on the other platforms.
FLAGS = {"macOS": frozenset({"DEBUG", "SWIFT_PACKAGE"})}
RELEASE = frozenset({"SWIFT_PACKAGE"})
# `import Foundation` becomes `import AppleFoundation`, which exports the Foundation of Linux and the declarations that
# only Apple's Foundation has.
FOUNDATION = re.compile(r"(?<=\bimport )Foundation\b|(?<![\w.`/])Foundation(?=\.\w)")
# Parts of Foundation that Linux and macOS have, but no other Apple platform.
ONLY_ON_MACOS = re.compile(
    r"\b(Process(?=\()|XMLDocument\b|XMLElement\b|XMLNode\b|homeDirectoryForCurrentUser\b|homeDirectory(?=\(forUser))")
IMPORT = re.compile(r"^\s*(?:@\w+ |public |package |internal |private |fileprivate )*import (?:\w+ )?(\w+)")
STUBS = "Scripts/apple/stubs"
# The stub modules in the order of their dependencies. `Glibc` is empty and hides the C library of Linux, which
# Foundation and Dispatch export here.
STUB_MODULES = ["Glibc", "DarwinTypes", "Darwin", "CoreFoundation", "Security", "AppleFoundation", "CryptoKit", "Network"]


class Failure(Exception):
    """The check failed. The message names the file or the target, and the cause."""


@dataclasses.dataclass
class Unit:
    """A module as one platform compiles it."""

    name: str
    platform: Platform
    flags: list
    dependencies: list
    # The text of each file, and the numbers of its lines that only Apple platforms compile.
    texts: dict
    apple_only: dict = dataclasses.field(default_factory=dict)
    # A digest of everything from which the module is compiled.
    key: str = ""

    @property
    def apple_lines(self):
        return sum(len(numbers) for numbers in self.apple_only.values())

    @property
    def is_empty(self):
        """Whether the platform compiles nothing of the target."""
        lines = (line.strip() for text in self.texts.values() for line in text.split("\n"))
        return all(not line or line.startswith("//") for line in lines)

    def seal(self, keys):
        """Computes the digest, given the digests of the dependencies."""
        parts = [self.name, *self.flags, *(keys[name] for name in self.dependencies if name in keys)]
        for path, text in self.texts.items():
            parts += [str(path), text]
        self.key = keys[self.name] = hashlib.sha256("\0".join(parts).encode()).hexdigest()


class Units:
    """Makes the units of the package in a folder."""

    def __init__(self, root, manifest):
        self.root = root
        self.manifest = manifest
        # All targets with Swift files outside of Tests, and the snippets.
        self.targets = [
            name for name, target in manifest.targets.items()
            if target["type"] in ("regular", "executable", "snippet") and manifest.folder(name).parts[0] != "Tests"
            and manifest.is_swift(name)]
        self.known_apple_only = {}
        self.stub_texts = [path.read_text() for path in (root / STUBS).rglob("*.swift")]

    def platform(self, name, target):
        """A platform as a target sees it: the modules of the package that it can import there."""
        system = APPLE_PLATFORMS.get(name, name.lower())
        package = frozenset(self.manifest.closure([target], system))
        return Platform(name, package, frozenset(self.manifest.targets) - package, FLAGS.get(name, RELEASE))

    def lines(self, path):
        return (self.root / path).read_text().split("\n")

    def apple_only(self, target):
        """The numbers of the lines of each file that some Apple platform compiles and Linux never does.

        Lines without text are left out.
        """
        if target not in self.known_apple_only:
            linux = self.platform("Linux", target)
            apples = [self.platform(name, target) for name in APPLE_PLATFORMS]
            found = self.known_apple_only[target] = {}
            for path in self.manifest.swift_files(target):
                lines = self.lines(path)
                try:
                    numbers = apple_only_lines(lines, linux, apples) if "#if" in "".join(lines) else set()
                except Unknown as error:
                    raise Failure(f"{path}: {error}") from None
                found[path] = {number for number in numbers if lines[number - 1].strip()}
        return self.known_apple_only[target]

    def compiled_targets(self, name):
        """The targets to compile for a platform, in the order of their dependencies.

        Of the snippets only those with Apple-only code, because the build for Linux compiles the others.
        """
        order = self.manifest.closure(self.targets, APPLE_PLATFORMS[name])
        return [target for target in order if target in self.targets and (
            not self.manifest.is_snippet(target) or any(self.apple_only(target).values()))]

    def unit(self, target, name):
        """A target with the code that a platform compiles. Other lines are blank, so that line numbers stay."""
        platform = self.platform(name, target)
        unit = Unit(
            target, platform, self.manifest.compiler_flags(target),
            self.manifest.dependencies(target, APPLE_PLATFORMS[name]) + STUB_MODULES, {})
        for path, only in self.apple_only(target).items():
            lines = self.lines(path)
            active = active_lines(lines, platform)
            self.check_imports(path, lines, active, platform)
            unit.texts[path] = "\n".join(
                FOUNDATION.sub("AppleFoundation", line) if on else "" for line, on in zip(lines, active))
            if checked := {number for number in only if active[number - 1]}:
                unit.apple_only[path] = checked
        for path, number in strangers(unit.texts, self.stub_texts):
            raise Failure(
                f"{path}:{number}: URLSession has no delegate method with these labels and types; correct the method, "
                "or add it to the stubs")
        return unit

    @staticmethod
    def check_imports(path, lines, active, platform):
        """Fails if a file imports a module that the platform does not have, although Linux may have it."""
        for number, (line, on) in enumerate(zip(lines, active), 1):
            match = IMPORT.match(line) if on else None
            if not match or match.group(1) == "Swift":
                continue
            try:
                has_module = platform.can_import(match.group(1))
            except Unknown as error:
                raise Failure(f"{path}:{number}: {error}") from None
            if not has_module:
                raise Failure(f"{path}:{number}: {platform.name} does not have the module {match.group(1)}")

    def stub(self, module, name):
        """The unit of a stub module."""
        platform = Platform(name, flags=RELEASE)
        # Apple's modules can grow, so their enumerations are not frozen. C structures are.
        evolution = [] if module.startswith("Darwin") else ["-enable-library-evolution"]
        before = STUB_MODULES[:STUB_MODULES.index(module)]
        unit = Unit(module, platform, ["-swift-version", "5", "-suppress-warnings", *evolution], before, {})
        for path in sorted((self.root / STUBS / module).glob("*.swift")):
            lines = path.read_text().split("\n")
            active = active_lines(lines, platform)
            unit.texts[path.relative_to(self.root)] = "\n".join(
                line if on else "" for line, on in zip(lines, active))
        if not unit.texts:
            unit.texts[pathlib.Path(f"{module}.swift")] = "// Empty.\n"
        return unit

    def uncited(self):
        """Yields the declarations of the stubs whose comment does not name a page of Apple's documentation."""
        for path in sorted((self.root / STUBS).rglob("*.swift")):
            comment = ""
            for number, line in enumerate(self.lines(path), 1):
                if line.startswith("///"):
                    comment += line
                elif re.match(r"(public|open) (?!import\b)", line) and "https://developer.apple.com/" not in comment:
                    yield f"{path.relative_to(self.root)}:{number}: name the page of Apple's documentation"
                elif not line.startswith("@"):
                    comment = ""

    def strays(self):
        """Yields the Swift files of Sources, Examples and Snippets that belong to no target."""
        owned = {path for target in self.targets for path in self.manifest.swift_files(target)}
        yield from sorted(set(self.files()) - owned)

    def files(self):
        """All Swift files of Sources, Examples and Snippets, except those that the manifest excludes."""
        excluded = {path for name in self.manifest.targets for path in self.manifest.excluded_files(name)}
        return sorted({path.relative_to(self.root) for folder in ("Sources", "Examples", "Snippets")
                       for path in (self.root / folder).rglob("*.swift")} - excluded)
