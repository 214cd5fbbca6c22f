"""The tests of manifest.py, units.py and compiler.py. The check runs them first."""

import pathlib
import tempfile
import unittest

from compiler import Compiler
from conditions import Platform
from delegates import methods, strangers
from manifest import Manifest
from units import ONLY_ON_MACOS, Failure, Unit, Units

APPLE = ["macos", "ios", "tvos", "watchos", "visionos"]


def target(*dependencies, settings=(), kind="regular"):
    """A target as `swift package dump-package` prints it. A dependency is a name, or a name and its platforms."""
    listed = []
    for dependency in dependencies:
        name, platforms = dependency if isinstance(dependency, tuple) else (dependency, None)
        listed.append({"target": [name, {"platformNames": platforms} if platforms else None]})
    return {"type": kind, "dependencies": listed, "settings": [{"kind": setting} for setting in settings]}


class Folder(unittest.TestCase):
    """A test with a package in a temporary folder."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)

    def manifest(self, targets, sources):
        """The manifest of a package whose only product is the target App, with the given Swift files."""
        for path, text in sources.items():
            (self.root / path).parent.mkdir(parents=True, exist_ok=True)
            (self.root / path).write_text(text)
        return Manifest(self.root, {
            "name": "Test", "products": [{"name": "App", "targets": ["App"], "type": {"library": ["automatic"]}}],
            "targets": [{"name": name, **content} for name, content in targets.items()]})

    def faults(self, *dependencies):
        manifest = self.manifest(
            {"App": target(*dependencies),
             "Lib": target("CCurl"), "CCurl": target(kind="system"), "CZlib": target(kind="system")},
            {"Sources/App/App.swift": "", "Sources/Lib/Lib.swift": ""})
        return list(manifest.faults("ios"))


class ManifestTests(Folder):
    def test_linux_libraries_are_faults_unless_conditional(self):
        self.assertEqual(len(self.faults("CCurl")), 1)
        self.assertIn("CCurl", self.faults("Lib")[0])
        self.assertEqual(self.faults(("CCurl", ["linux"])), [])
        self.assertEqual(self.faults(("Lib", ["linux"])), [])
        self.assertEqual(self.faults(("Lib", ["macos"])), [])
        self.assertEqual(len(self.faults(("Lib", ["linux", "ios"]))), 1)

    def test_libraries_of_the_sdk_are_no_faults(self):
        self.assertEqual(self.faults("CZlib"), [])

    def test_unknown_settings_fail(self):
        manifest = self.manifest({"App": target(settings=[{"unsafeFlags": {"_0": ["-O"]}}])}, {})
        with self.assertRaises(ValueError):
            manifest.compiler_flags("App")


class UnitTests(Folder):
    def units(self, text):
        return Units(self.root, self.manifest({"App": target()}, {"Sources/App/App.swift": text}))

    def test_text_of_a_platform_keeps_its_lines(self):
        unit = self.units("import Foundation\n#if os(Linux)\nlinux\n#else\nFoundation.open\n#endif").unit("App", "iOS")
        self.assertEqual(list(unit.texts.values()), ["import AppleFoundation\n\n\n\nAppleFoundation.open\n"])
        self.assertEqual(list(unit.apple_only.values()), [{5}])

    def test_code_behind_an_unknown_flag_is_apple_only(self):
        units = self.units("#if canImport(Darwin) && NEVER\ncode\n#endif")
        self.assertEqual(list(units.apple_only("App").values()), [{2}])
        self.assertEqual(units.unit("App", "macOS").apple_only, {})

    def test_files_outside_of_targets_are_strays(self):
        units = self.units("")
        (self.root / "Sources/Stray.swift").write_text("")
        self.assertEqual([str(path) for path in units.strays()], ["Sources/Stray.swift"])

    def test_stub_without_a_page_is_found(self):
        units = self.units("")
        (self.root / "Scripts/apple/stubs").mkdir(parents=True)
        (self.root / "Scripts/apple/stubs/A.swift").write_text(
            "/// https://developer.apple.com/x\n@discardableResult\npublic func a() {}\n/// None.\npublic let b = 1\n")
        self.assertEqual([fault.split(":")[1] for fault in units.uncited()], ["5"])

    def test_names_that_only_macos_has(self):
        for line, is_found in (("Process()", True), ("ProcessInfo()", False), ("XMLNodes()", False), ("XMLNode()", True)):
            self.assertEqual(bool(ONLY_ON_MACOS.search(line)), is_found, line)


    def test_import_of_a_module_of_linux_fails(self):
        for name in ("FoundationNetworking", "Glibc", "Unheard"):
            with self.subTest(name), self.assertRaises(Failure):
                self.units(f"@preconcurrency public import {name}").unit("App", "macOS")


class DelegateTests(unittest.TestCase):
    STUB = """
      func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive error: (any Error)?,
        completionHandler: @escaping @Sendable (Int, [Int: Int]) -> Void)
      """

    def test_signature_has_labels_and_types(self):
        self.assertEqual([signature for _, signature in methods(self.STUB)], [
            "urlSession(_:URLSession,task:URLSessionTask,didReceive:(anyError)?,"
            "completionHandler:@escaping@Sendable(Int,[Int:Int])->Void)"])

    def test_methods_that_no_stub_has_are_found(self):
        for old, new, count in (("", "", 0), ("error", "problem", 0), ("task", "tasks", 1), ("[Int: Int]", "Int", 1)):
            with self.subTest(new):
                self.assertEqual(len(list(strangers({"a": self.STUB.replace(old, new, 1)}, [self.STUB]))), count)


class CompilerTests(Folder):
    def compiler(self):
        return Compiler(self.root, self.manifest({"App": target()}, {}), self.root / "scratch")

    def broken(self, text, numbers):
        path = pathlib.Path("App.swift")
        return self.compiler().break_one(Unit("App", Platform("macOS"), [], [], {path: text}, {path: numbers}))

    def test_undefined_name_is_found_in_each_region(self):
        self.assertEqual(self.broken("let a = 1\n\nenum B {\n  func c() {\n    _ = 2\n  }\n}\n", {1, 5}), 2)

    def test_code_that_is_not_compiled_fails(self):
        with self.assertRaises(Failure):
            self.broken("/*\nlet a = 1\n*/\n", {2})

    def test_error_in_the_code_fails(self):
        unit = Unit("App", Platform("macOS"), [], [], {pathlib.Path("App.swift"): "let a: Int = undefinedName\n"})
        with self.assertRaises(Failure):
            self.compiler().compile_all([unit])


if __name__ == "__main__":
    unittest.main()
