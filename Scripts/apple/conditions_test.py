"""The tests of conditions.py. Run them with `python3 Scripts/apple/conditions_test.py`; the gate runs them, too."""

import dataclasses
import unittest

from conditions import Platform, Unknown, active_lines, apple_only_lines, custom_flags, evaluate, regions

MAC = Platform("macOS", frozenset({"ErrandCore"}), frozenset({"CErrandFiles"}), frozenset({"DEBUG"}))
PHONE = dataclasses.replace(MAC, name="iOS", flags=frozenset(), environment="simulator")
LINUX = Platform("Linux", frozenset({"ErrandCore", "CErrandFiles"}))

# A condition, and whether it holds on macOS (debug), in the simulator of iOS (release) and on Linux.
VALUES = [
    ("os(Linux)", False, False, True), ("os(macOS)", True, False, False), ("os(OSX)", True, False, False),
    ("os(iOS)", False, True, False), ("os(Windows)", False, False, False), ("!os(Linux)", True, True, False),
    ("canImport(Darwin)", True, True, False), ("canImport(Glibc)", False, False, True),
    ("canImport(UIKit)", False, True, False), ("canImport(AppKit)", True, False, False),
    ("canImport(Foundation)", True, True, True), ("canImport(ErrandCore)", True, True, True),
    ("canImport(CErrandFiles)", False, False, True), ("canImport(Musl)", False, False, False),
    ("canImport(os.log)", True, True, False),
    ("targetEnvironment(simulator)", False, True, False), ("targetEnvironment(macCatalyst)", False, False, False),
    ("arch(arm64)", True, True, False), ("DEBUG", True, False, False), ("!DEBUG", False, True, True),
    ("compiler(>=6.2)", True, True, True), ("compiler(<6.2)", False, False, False),
    ("compiler(>=7)", False, False, False), ("swift(>=6)", True, True, True), ("swift(>=6.3)", False, False, False),
    ("true", True, True, True), ("false || DEBUG", True, False, False),
    ("os(macOS) || os(iOS)", True, True, False), ("os(macOS) && DEBUG", True, False, False),
    ("os(iOS) || os(macOS) && !DEBUG", False, True, False), ("(os(iOS) || os(macOS)) && !DEBUG", False, True, False),
    ("!(os(macOS) || os(iOS))", False, False, True), ("os(Linux)  // a comment || true", False, False, True),
]

NESTED = """\
#if canImport(Darwin)
apple
#if DEBUG
appleDebug
#else
appleRelease
#endif
#elseif os(Linux)
linux
#else
other
#endif
both
""".splitlines()


class ConditionTests(unittest.TestCase):
    def test_values(self):
        for condition, *expected in VALUES:
            with self.subTest(condition):
                self.assertEqual([evaluate(condition, platform) for platform in (MAC, PHONE, LINUX)], expected)

    def test_unknown_conditions_fail(self):
        for condition in ("os(Plan9)", "canImport(Unheard)", "hasMagic(x)", "os(Linux", "os(Linux) &&", "", "a b", "1"):
            with self.subTest(condition), self.assertRaises(Unknown):
                evaluate(condition, MAC)

    def test_unknown_right_operand_fails_although_the_left_decides(self):
        with self.assertRaises(Unknown):
            evaluate("os(macOS) || canImport(Unheard)", MAC)

    def active(self, lines, platform):
        return [line for line, is_active in zip(lines, active_lines(lines, platform)) if is_active]

    def test_nested_blocks(self):
        self.assertEqual(self.active(NESTED, MAC), ["apple", "appleDebug", "both"])
        self.assertEqual(self.active(NESTED, PHONE), ["apple", "appleRelease", "both"])
        self.assertEqual(self.active(NESTED, LINUX), ["linux", "both"])

    def test_blocks_in_an_inactive_block_are_inactive(self):
        lines = ["#if false", "#if true", "a", "#else", "b", "#endif", "#else", "c", "#endif"]
        self.assertEqual(self.active(lines, MAC), ["c"])

    def test_text_in_a_literal_is_no_directive(self):
        lines = ['let text = """', "#if os(Linux)", '"""', "#if os(macOS)", "a", "#endif"]
        self.assertEqual(self.active(lines, LINUX), ['let text = """', "#if os(Linux)", '"""'])

    def test_unbalanced_blocks_fail(self):
        for lines in (["#if true"], ["#endif"], ["#else"], ["#elseif true"]):
            with self.subTest(lines), self.assertRaises(Unknown):
                active_lines(lines, MAC)

    def test_apple_only_lines_do_not_depend_on_flags(self):
        self.assertEqual(custom_flags(NESTED), ["DEBUG"])
        self.assertEqual(apple_only_lines(NESTED, LINUX, [MAC]), {2, 4, 6})

    def test_lines_that_a_flag_enables_on_linux_are_not_apple_only(self):
        lines = ["#if TSAN", "a", "#else", "b", "#endif"]
        self.assertEqual(apple_only_lines(lines, LINUX, [MAC, PHONE]), set())

    def test_regions_end_at_directives_and_are_not_blank(self):
        self.assertEqual(regions(["a", "b", "#if X", " ", "#else", "c"], {1, 2, 4, 6}), [(1, 2), (6, 6)])


if __name__ == "__main__":
    unittest.main()
