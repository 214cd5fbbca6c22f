import Foundation
import Testing

/// Compares how Foundation's decoder and `.fast` read numbers.
struct NumberComparisonTests {
  static let integers = [
    "0", "-0", "7", "-1", "127", "128", "-128", "-129", "255", "256", "32767", "32768", "-32768", "-32769", "65535",
    "65536", "2147483647", "2147483648", "-2147483648", "-2147483649", "4294967295", "4294967296",
    "9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809",
    "18446744073709551615", "18446744073709551616", "170141183460469231731687303715884105727",
    "170141183460469231731687303715884105728", "-170141183460469231731687303715884105728",
    "340282366920938463463374607431768211455", "340282366920938463463374607431768211456",
  ]

  @Test(arguments: integers) func `signed integers are range-checked`(text: String) {
    expectAlikeEverywhere(Int8.self, text)
    expectAlikeEverywhere(Int16.self, text)
    expectAlikeEverywhere(Int32.self, text)
    expectAlikeEverywhere(Int64.self, text)
    expectAlikeEverywhere(Int.self, text)
    expectAlikeEverywhere(Int128.self, text)
  }

  @Test(arguments: integers) func `unsigned integers are range-checked`(text: String) {
    expectAlikeEverywhere(UInt8.self, text)
    expectAlikeEverywhere(UInt16.self, text)
    expectAlikeEverywhere(UInt32.self, text)
    expectAlikeEverywhere(UInt64.self, text)
    expectAlikeEverywhere(UInt.self, text)
    expectAlikeEverywhere(UInt128.self, text)
  }

  @Test(arguments: integers) func `integers are read as floating point`(text: String) {
    expectAlikeEverywhere(Double.self, text)
    expectAlikeEverywhere(Float.self, text)
    expectAlikeEverywhere(Decimal.self, text)
  }

  @Test(arguments: ["1e2", "1E+2", "1e02", "1.0", "100e-2", "-0.0", "0.0", "2.50e1", "1e18"])
  func `fractions with integer values are integers`(text: String) {
    expectSame(Int.self, text)
    expectSame([Int64].self, "[\(text)]")
    expectSame([String: UInt64].self, "{\"a\":\(text)}")
    expectSame(JSONBox<Int>.self, "{\"value\":\(text)}")
  }

  @Test(arguments: ["1e2", "1.0", "127.0", "128.0", "-128.0", "-129.0", "255.0", "256.0", "-1.0", "1e3"])
  func `fractions with integer values are range-checked`(text: String) {
    expectAlikeEverywhere(Int8.self, text)
    expectAlikeEverywhere(UInt8.self, text)
  }

  @Test(arguments: ["1.5", "1e-1", "-0.5", "1e19", "1e300", "0.1e0"]) func `integers are not rounded`(text: String) {
    expectSameFailure(Int.self, text)
    expectSameFailure([Int].self, "[1,\(text)]")
    expectSameFailure([String: Int].self, "{\"a\":\(text)}")
    expectSameFailure(JSONBox<Int?>.self, "{\"value\":\(text)}")
  }

  @Test func `integers beyond 2^53 stay exact`() {
    expectSame([Int].self, "[9007199254740993,9007199254740993.0,-9007199254740993]")
    expectSame([UInt64].self, "[18446744073709551615,18446744073709551614]")
  }

  @Test(arguments: [
    "0.1", "-0.1", "-0", "-0.0", "0.0e1", "1e5", "1E5", "1e+5", "1e05", "1e-7", "0.30000000000000004", "1e22", "1e23",
    "123456789012345678901234567890", "9007199254740993", "1.7976931348623157e308", "2.2250738585072014e-308",
    "6.02214076e23", "3.141592653589793238462643383279", "179769313486231570000e288",
    "0.1000000000000000055511151231257827021181583404541015625", "8.5e-300", "72057594037927945",
  ]) func `doubles are the nearest values`(text: String) {
    expectSame(Double.self, text, seenAs: \.bitPattern)
    expectSame([Double].self, "[\(text),\(text)]") { $0.map(\.bitPattern) }
    expectSame([String: Double].self, "{\"a\":\(text)}") { $0.mapValues(\.bitPattern) }
    expectSame(JSONBox<Double?>.self, "{\"value\":\(text)}") { $0.value?.bitPattern }
  }

  @Test(arguments: ["0.1", "16777217", "3.4028235e38", "1.00000017881393432617187499", "1e-38", "-0.0", "1e10"])
  func `floats are the nearest values`(text: String) {
    expectSame(Float.self, text, seenAs: \.bitPattern)
    expectSame([Float].self, "[\(text)]") { $0.map(\.bitPattern) }
    expectSame(JSONBox<Float>.self, "{\"value\":\(text)}", seenAs: \.value.bitPattern)
  }

  @Test(arguments: ["1e39", "-1e39", "3.5e38", "1e400", "-1e400"]) func `floats do not overflow`(text: String) {
    expectSameFailure(Float.self, text)
    expectSameFailure([Float].self, "[1,\(text)]")
    expectSameFailure(JSONBox<[Float]>.self, "{\"value\":[\(text)]}")
  }

  @Test(arguments: ["1e400", "-1e400", "1e99999999999"]) func `doubles do not overflow`(text: String) {
    expectSameFailure(Double.self, text)
    expectSameFailure([Double].self, "[1,\(text)]")
    expectSameFailure(JSONBox<[Double]?>.self, "{\"value\":[\(text)]}")
    expectSameFailure([[String: Int]].self, "[{},{\"a\":\(text)}]")
  }

  @Test(arguments: [
    "0.1", "-12.50", "123456789012345678901234567890", "0.123456789012345678901234567890",
    "99999999999999999999999999999999999999", "1e-5", "1e100", "1E+2", "19.99", "-0.07", "0", "3e0",
  ]) func `decimals keep thirty digits`(text: String) {
    expectSame(Decimal.self, text)
    expectSame([Decimal].self, "[\(text)]")
    expectSame([String: Decimal].self, "{\"a\":\(text)}")
    expectSame(JSONBox<Decimal?>.self, "{\"value\":\(text)}")
  }

  @Test func `decimals have a limited range`() {
    expectSameFailure([Decimal].self, "[1e200]")
    expectSameFailure(JSONBox<Decimal>.self, #"{"value":"1"}"#)
  }

  @Test(arguments: ["true", "false", "null", "\"1\"", "\"\"", "[]", "[1]", "{}", "{\"a\":1}"])
  func `other types are not numbers`(text: String) {
    expectAlikeEverywhere(Int.self, text)
    expectAlikeEverywhere(UInt8.self, text)
    expectAlikeEverywhere(Int128.self, text)
    expectAlikeEverywhere(Double.self, text)
    expectAlikeEverywhere(Float.self, text)
    expectAlikeEverywhere(Decimal.self, text)
  }

  @Test(arguments: ["true", "false", "null", "0", "1", "1.0", "\"true\"", "\"\"", "[]", "[true]", "{}"])
  func `true and false are not numbers`(text: String) {
    expectAlikeEverywhere(Bool.self, text)
  }

  @Test(arguments: ["01", "-01", "+1", ".5", "1.", "1.e5", "1e", "1e+", "-", "0x10", "NaN", "Infinity", "1_000"])
  func `malformed numbers are errors`(text: String) {
    expectSameFailure(Double.self, text)
    expectSameFailure([Double].self, "[\(text)]")
  }

  @Test(arguments: ["\"inf\"", "\"-inf\"", "\"nan\"", "\"x\"", "\"\"", "\"Inf\"", "1.5", "null", "true", "[]"])
  func `strings are read as infinite floats`(text: String) {
    let named: (JSONDecoder) -> Void = { decoder in
      decoder.nonConformingFloatDecodingStrategy = .convertFromString(
        positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
    }
    if text == "\"nan\"" {
      expectSame([Double].self, "[\(text)]", by: named) { $0.map(\.isNaN) }
      expectSame(JSONBox<Float>.self, "{\"value\":\(text)}", by: named, seenAs: \.value.isNaN)
    } else {
      expectAlikeEverywhere(Double.self, text, by: named)
      expectAlikeEverywhere(Float.self, text, by: named)
    }
    expectSameFailure([Int].self, "[\"inf\"]", by: named)
    expectSameFailure([Double].self, "[\"inf\"]")
  }
}
