"""The package manifest as `swift package dump-package` prints it, evaluated for a platform."""

import json
import pathlib
import subprocess

# The C libraries that Apple platforms have, with the reason. A target of an Apple platform may link no other one.
SYSTEM_LIBRARIES = {
    "CSQLite": ("libsqlite3, part of every Apple SDK", {"macos", "ios", "tvos", "watchos", "visionos"}),
    "CZlib": ("libz, part of every Apple SDK", {"macos", "ios", "tvos", "watchos", "visionos"}),
}
# Products that need a C library which apps install or build themselves, for example with Homebrew.
OWN_LIBRARIES = {"ErrandRedis": {"CHiredis"}}


class Manifest:
    """The parts of the manifest that the check needs."""

    def __init__(self, root, package=None):
        """Reads the manifest of the package in a folder, unless its JSON is given."""
        self.root = root
        if package is None:
            package = json.loads(subprocess.run(
                ["swift", "package", "dump-package"], cwd=root, check=True, capture_output=True, text=True).stdout)
        self.name = package["name"].lower()
        self.deployment = {entry["platformName"]: entry["version"] for entry in package.get("platforms", [])}
        self.targets = {target["name"]: target for target in package["targets"]}
        self.products = {product["name"]: product for product in package["products"]}
        self.add_snippets()

    def add_snippets(self):
        """Adds the files in Snippets, each one a program that can import all libraries of the package."""
        libraries = [target for product in self.products.values() if "library" in product["type"]
                     for target in product["targets"]]
        for path in sorted((self.root / "Snippets").glob("*.swift")):
            self.targets[path.stem] = {
                "name": path.stem, "type": "snippet", "path": str(path.relative_to(self.root)),
                "dependencies": [{"byName": [name, None]} for name in libraries],
                "settings": [{"kind": {"swiftLanguageMode": {"_0": "6"}}}]}

    def is_snippet(self, name):
        return self.targets[name]["type"] == "snippet"

    def folder(self, name):
        """The folder of a target, or the file of a snippet, relative to the package."""
        return pathlib.Path(self.targets[name].get("path") or f"Sources/{name}")

    def swift_files(self, name):
        """The Swift files of a target, relative to the package."""
        if self.is_snippet(name):
            return [self.folder(name)]
        files = {path.relative_to(self.root) for path in (self.root / self.folder(name)).rglob("*.swift")}
        return sorted(files - self.excluded_files(name))

    def excluded_files(self, name):
        """The Swift files in the folder of a target that the package does not compile, relative to the package."""
        return {
            path.relative_to(self.root)
            for excluded in self.targets[name].get("exclude", [])
            for path in (self.root / self.folder(name) / excluded).rglob("*.swift")}

    def dependencies(self, name, platform):
        """The targets of this package that a target depends on directly, on a platform such as "macos"."""
        found = []
        for dependency in self.targets[name]["dependencies"]:
            (kind, value), = dependency.items()
            condition = value[-1] or {}
            platforms = condition.get("platformNames")
            if kind == "product" or condition.get("traits") or platforms and platform not in platforms:
                continue
            if value[0] in self.targets:
                found.append(value[0])
        return found

    def closure(self, names, platform):
        """The given targets and all that they depend on, each one after its own dependencies."""
        ordered = []

        def visit(name):
            if name not in ordered:
                for dependency in self.dependencies(name, platform):
                    visit(dependency)
                ordered.append(name)

        for name in names:
            visit(name)
        return ordered

    def is_swift(self, name):
        return bool(self.swift_files(name))

    def compiler_flags(self, name):
        """The compiler flags for the settings of a target. Fails for a setting that is not known."""
        flags = []
        for setting in self.targets[name]["settings"]:
            (kind, value), = setting["kind"].items()
            if kind == "swiftLanguageMode":
                flags += ["-swift-version", value["_0"]]
            elif kind == "treatAllWarnings" and value["_0"] == "error":
                flags.append("-warnings-as-errors")
            elif kind == "enableUpcomingFeature":
                flags += ["-enable-upcoming-feature", value["_0"]]
            else:
                raise ValueError(f"Package.swift: the setting {kind} of {name} is not known; add it to manifest.py")
        return flags

    def apple_products(self, platform):
        """The products of a platform and their targets. Commands are built only on macOS."""
        for name, product in sorted(self.products.items()):
            if "executable" not in product["type"] or platform == "macos":
                yield name, product["targets"]

    def faults(self, platform):
        """Yields what is wrong with the libraries that products link on a platform, one sentence each."""
        for product, libraries in self.libraries(platform):
            for name in libraries:
                known = name in SYSTEM_LIBRARIES and platform in SYSTEM_LIBRARIES[name][1]
                if not known and name not in OWN_LIBRARIES.get(product, ()):
                    yield (
                        f"Package.swift: on {platform} the product {product} links {name}, which Apple platforms do "
                        "not have; add `condition: .when(platforms: [.linux])` to the dependency")

    def libraries(self, platform):
        """Yields the products of a platform and the C targets that each one links."""
        for product, targets in self.apple_products(platform):
            yield product, [name for name in self.closure(targets, platform) if not self.is_swift(name)]
