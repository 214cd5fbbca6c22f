@testable import ErrandJSON
import Foundation

extension EncodingSample {
  static let all: [EncodingSample] =
    scalars + texts + groups + containers + strategies + turns + refusals

  static let scalars: [EncodingSample] = [
    EncodingSample("true and false", [true, false]),
    EncodingSample("one value at the top", 42), EncodingSample("a string at the top", "text"),
    EncodingSample("nil at the top", Int?.none), EncodingSample("an optional at the top", Int?.some(1)),
    EncodingSample("Int", [Int.min, -100, -99, -10, -9, -1, 0, 9, 10, 99, 100, 9_999, 10_000, 123_456_789, .max]),
    EncodingSample("Int8", [Int8.min, -1, 0, .max]), EncodingSample("Int16", [Int16.min, 0, .max]),
    EncodingSample("Int32", [Int32.min, 0, .max]), EncodingSample("Int64", [Int64.min, 0, .max]),
    EncodingSample("UInt", [UInt.min, 7, .max]), EncodingSample("UInt8", [UInt8.min, 200, .max]),
    EncodingSample("UInt16", [UInt16.min, .max]), EncodingSample("UInt32", [UInt32.min, .max]),
    EncodingSample("UInt64", [UInt64.min, 1 << 63, .max]),
    EncodingSample("Int128", [Int128.min, 5, .max]), EncodingSample("UInt128", [UInt128.min, .max]),
    EncodingSample("every digit count", (0..<19).map { Int(pow(10, Double($0))) }),
    EncodingSample("whole doubles", [0.0, 1, -1, 100_000, 1e15, 9_007_199_254_740_992, 1e16, 1e20, -1e22]),
    EncodingSample("minus zero", [-0.0]),
    EncodingSample("doubles", [0.1, -0.1, 1.5, 19.99, 0.30000000000000004, 1 / 3]),
    EncodingSample(
      "small doubles", [0.0001, 0.00011, 0.00001, 1e-9, Double.leastNonzeroMagnitude, .leastNormalMagnitude, 1.23e-7]),
    EncodingSample(
      "big doubles", [123_456.789, 999_999_999.999_999, 1e12, 1e12 - 0.5, 1.5e300, .greatestFiniteMagnitude]),
    EncodingSample(
      "doubles near a bound", [999_999.999999999, 1_000_000.000000001, 999_999_999_999.9, 0.999999999999]),
    EncodingSample("floats", [0.1, 1, 16_777_216, 1e10, 3.4e38, -0.0, 1e-5] as [Float]),
    EncodingSample("decimals", [Decimal(string: "1234567890.0987654321"), Decimal(1e50), Decimal(-3)]),
    EncodingSample("URLs", [URL(string: "https://a.example/b/c?d=e%20f#g"), URL(string: "x", relativeTo: nil)]),
    EncodingSample("a UUID", UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))),
    EncodingSample("raw values", [Encoded.Rank.low, .high]),
    EncodingSample("numbers as raw values", [Encoded.Level.two]),
  ]

  static let texts: [EncodingSample] = [
    EncodingSample("no text", ""),
    EncodingSample("every ASCII character", (0..<128).map { String(Unicode.Scalar($0)) }),
    EncodingSample(
      "control characters together", String(String.UnicodeScalarView((0..<32).map { Unicode.Scalar($0) }))),
    EncodingSample("slashes", "</script> a/b"), EncodingSample("separators", "\u{2028}\u{2029}\u{85}\u{FEFF}"),
    EncodingSample("other scripts", "é ü 日本語 العربية 😀 👩‍👩‍👧‍👦 e\u{301}"),
    EncodingSample(
      "a special character anywhere",
      (0..<40).flatMap { before in
        ["\"", "\\", "\n", "\u{1}", "é", "\u{7F}"].map { String(repeating: "x", count: before) + $0 + "tail of text" }
      }),
    EncodingSample("only special characters", String(repeating: "\"\\\u{1F}", count: 200)),
    EncodingSample("a long text", String(repeating: "All work and no play. ", count: 2_000)),
    EncodingSample("a substring", ["abc def".dropFirst(2)].map(String.init)),
    EncodingSample("odd keys", ["": 1, "a\"b": 2, "a\\": 3, "\n": 4, "日本": 5, "a/b": 6]),
  ]

  static let groups: [EncodingSample] = [
    EncodingSample("an empty array", [Int]()), EncodingSample("an empty object", [String: Int]()),
    EncodingSample("strings", ["a", "", "c"]), EncodingSample("arrays in arrays", [[1, 2], [], [3]]),
    EncodingSample("arrays of doubles in arrays", [[0.5, 1], [], [2.25]]),
    EncodingSample("optionals", [1, nil, 3] as [Int?]), EncodingSample("optional texts", ["a", nil] as [String?]),
    EncodingSample("a set of one", Set(["a"])),
    EncodingSample("a contiguous array", ContiguousArray(["a", "b"])),
    EncodingSample("a range", 1..<5), EncodingSample("a dictionary", ["b": 1, "a": 2, "c": 3]),
    EncodingSample("a dictionary of dictionaries", ["x": ["b": 1, "a": 2], "y": [:]]),
    EncodingSample("a dictionary of optionals", ["a": 1, "b": nil] as [String: Int?]),
    EncodingSample("a dictionary of arrays", ["a": [1.5], "b": []]),
    EncodingSample("a dictionary with numbers for keys", [10: "a", 9: "b", -1: "c"]),
    EncodingSample("a dictionary with names for keys", [Encoded.Name.lastName: 1, .firstName: 2]),
    EncodingSample("a dictionary with other keys", [1.5: "a"]),
    EncodingSample("a big dictionary", Dictionary(uniqueKeysWithValues: (0..<300).map { ("key \($0)", $0) })),
    EncodingSample("a dictionary of values", ["a": Encoded.Person(), "b": Encoded.Person(age: 1)]),
    EncodingSample("many values", (0..<50).map { Encoded.Person(age: $0, friends: [Encoded.Person(note: "n\($0)")]) }),
    EncodingSample("JSON values", ["a": [1, -2.5, "x", nil, true, ["k": []]]] as [String: JSONValue]),
    EncodingSample("dates in arrays", [Date(timeIntervalSinceReferenceDate: 0.5), Date(timeIntervalSince1970: 0)]),
  ]
}
