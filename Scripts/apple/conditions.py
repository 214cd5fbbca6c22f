"""Evaluates the platform conditions of Swift: `#if`, `#elseif`, `#else` and `#endif`.

`active_lines` says which lines of a file a platform compiles. `apple_only_lines` are those that no build on Linux
compiles, with any combination of the custom flags, but a build for an Apple platform can compile.
"""

import dataclasses
import itertools
import re

# The versions for `compiler(>=…)` and `swift(>=…)`: the compiler of this package, and its language mode.
COMPILER = (6, 3)
LANGUAGE = (6, 0)

# What `os(…)` accepts for each platform, and which frameworks only some platforms have.
SYSTEMS = {
    "macOS": ({"macOS", "OSX"}, {"AppKit"}), "iOS": ({"iOS"}, {"UIKit"}), "tvOS": ({"tvOS"}, {"UIKit"}),
    "watchOS": ({"watchOS"}, {"UIKit", "WatchKit"}), "visionOS": ({"visionOS"}, {"UIKit"}), "Linux": ({"Linux"}, set()),
}
OTHER_SYSTEMS = {"Windows", "Android", "WASI", "FreeBSD", "OpenBSD"}
# Modules that every platform has, those of all Apple platforms, and those of Linux.
EVERYWHERE = {"Dispatch", "Foundation", "Observation", "Synchronization", "Testing", "XCTest"}
APPLE = {"Combine", "CoreFoundation", "CryptoKit", "Darwin", "Network", "OSLog", "Security", "SwiftUI", "os"}
LINUX = {"FoundationNetworking", "FoundationXML", "Glibc"}
# Modules that neither has.
NOWHERE = {"Android", "Bionic", "CRT", "Musl", "UCRT", "WASILibc", "WinSDK", "ucrt"}

DIRECTIVE = re.compile(r"^\s*#(if|elseif|else|endif)\b(.*)$")
TOKEN = re.compile(r"\s*(&&|\|\||[!(),]|>=|<|[0-9]+(?:\.[0-9]+)*|[A-Za-z_][A-Za-z_0-9.]*:?|$)")


class Unknown(Exception):
    """A condition that cannot be evaluated. The message says why."""


@dataclasses.dataclass(frozen=True)
class Platform:
    """A platform: its name, the modules of the package that a target can import there, and the custom flags."""

    name: str
    package: frozenset = frozenset()
    # Modules of the package that cannot be imported, for example because of a condition in the manifest.
    absent: frozenset = frozenset()
    flags: frozenset = frozenset()
    environment: str = ""

    @property
    def is_apple(self):
        return self.name != "Linux"

    def call(self, function, arguments):
        """The value of `function(arguments)`; the arguments are tokens without commas."""
        first = arguments[0] if arguments else ""
        if function == "os":
            if not any(first in names for names, _ in SYSTEMS.values()) and first not in OTHER_SYSTEMS:
                raise Unknown(f"os({first}) is not known; add it to conditions.py")
            return first in SYSTEMS[self.name][0]
        if function == "canImport":
            return self.can_import(first.split(".")[0])
        if function == "targetEnvironment":
            return first == self.environment
        if function == "arch":
            return first == ("arm64" if self.is_apple else "x86_64")
        if function in ("swift", "compiler"):
            comparison, version = arguments
            own = COMPILER if function == "compiler" else LANGUAGE
            at_least = own >= tuple(int(part) for part in version.split("."))
            return at_least if comparison == ">=" else not at_least
        raise Unknown(f"the condition {function}(…) is not known; add it to conditions.py")

    def can_import(self, module):
        if module in self.package or module in EVERYWHERE:
            return True
        if module in self.absent or module in NOWHERE:
            return False
        if module in LINUX:
            return not self.is_apple
        if module in APPLE:
            return self.is_apple
        if any(module in frameworks for _, frameworks in SYSTEMS.values()):
            return module in SYSTEMS[self.name][1]
        raise Unknown(f"canImport({module}): the module is not known; add it to conditions.py")


class Parser:
    """Reads a condition and evaluates it for a platform, both operands of `&&` and `||` included."""

    def __init__(self, text, platform):
        self.tokens = []
        self.platform = platform
        text = text.split("//")[0].strip()
        place = 0
        while place < len(text):
            match = TOKEN.match(text, place)
            if not match or not match.group(1):
                raise Unknown(f"`{text}` is not a condition")
            self.tokens.append(match.group(1))
            place = match.end()
        self.tokens.append("")

    def take(self, token=None):
        if token is not None and self.tokens[0] != token:
            raise Unknown(f"expected `{token}` before `{' '.join(self.tokens)}`")
        return self.tokens.pop(0)

    def value(self):
        result = self.alternatives()
        self.take("")
        return result

    def alternatives(self):
        result = self.conjunction()
        while self.tokens[0] == "||":
            self.take()
            result = self.conjunction() or result
        return result

    def conjunction(self):
        result = self.operand()
        while self.tokens[0] == "&&":
            self.take()
            result = self.operand() and result
        return result

    def operand(self):
        token = self.take()
        if token == "!":
            return not self.operand()
        if token == "(":
            result = self.alternatives()
            self.take(")")
            return result
        if not re.match(r"[A-Za-z_]", token):
            raise Unknown(f"`{token}` is not an operand")
        if token in ("true", "false"):
            return token == "true"
        if self.tokens[0] != "(":
            return token in self.platform.flags
        self.take()
        arguments = []
        while (argument := self.take()) != ")":
            if not argument:
                raise Unknown(f"`{token}(` is not closed")
            if argument != ",":
                arguments.append(argument)
        return self.platform.call(token, arguments)


def evaluate(condition, platform):
    """Whether a condition holds on a platform."""
    return Parser(condition, platform).value()


def directives(lines):
    """The directive of each line as (name, condition), or None. Text in a literal of several lines is no directive."""
    found = []
    inside = False
    for line in lines:
        match = None if inside else DIRECTIVE.match(line)
        found.append((match.group(1), match.group(2)) if match else None)
        if line.count('"""') % 2 == 1 and not (match or line.lstrip().startswith("//")):
            inside = not inside
    return found


def active_lines(lines, platform):
    """Says for each line whether the platform compiles it. Directives themselves are not compiled."""
    found = directives(lines)
    if not any(found):
        return [True] * len(lines)
    active = []
    # For each open `#if`: whether the code around it is compiled, whether a branch was taken, and the present branch.
    open_blocks = []
    for number, directive in enumerate(found, 1):
        outside = all(branch for _, _, branch in open_blocks)
        if directive is None:
            active.append(outside)
            continue
        name, condition = directive
        active.append(False)
        try:
            if name == "if":
                holds = evaluate(condition, platform)
                open_blocks.append((outside, holds, holds))
                continue
            around, taken, _ = open_blocks.pop()
            if name == "elseif":
                holds = evaluate(condition, platform) and not taken
                open_blocks.append((around, taken or holds, holds))
            elif name == "else":
                open_blocks.append((around, True, not taken))
        except IndexError:
            raise Unknown(f"line {number}: #{name} without #if") from None
        except Unknown as error:
            raise Unknown(f"line {number}: {error}") from None
    if open_blocks:
        raise Unknown("an #if has no #endif")
    return active


def custom_flags(lines):
    """The custom flags in the conditions of a file, such as DEBUG."""
    flags = set()
    for directive in directives(lines):
        if directive and directive[1]:
            condition = re.sub(r"\w+\s*\([^()]*\)", "", directive[1].split("//")[0])
            flags |= set(re.findall(r"\b[A-Za-z_]\w*\b", condition)) - {"true", "false"}
    return sorted(flags)


def compiled_lines(lines, platform):
    """The numbers of the lines that the platform compiles with some combination of the custom flags."""
    flags = custom_flags(lines)
    numbers = set()
    for choice in itertools.product((False, True), repeat=len(flags)):
        chosen = frozenset(flag for flag, on in zip(flags, choice) if on)
        active = active_lines(lines, dataclasses.replace(platform, flags=chosen))
        numbers |= {number for number, is_active in enumerate(active, 1) if is_active}
    return numbers


def apple_only_lines(lines, linux, apples):
    """The numbers of the lines that some Apple platform compiles, but Linux never does."""
    numbers = set()
    for apple in apples:
        numbers |= compiled_lines(lines, apple)
    return numbers - compiled_lines(lines, linux)


def regions(lines, numbers):
    """The given line numbers as (first, last), split at directives, without regions that are blank."""
    found = []
    for number in sorted(numbers):
        if found and found[-1][1] == number - 1:
            found[-1] = (found[-1][0], number)
        else:
            found.append((number, number))
    return [(first, last) for first, last in found if any(line.strip() for line in lines[first - 1:last])]
