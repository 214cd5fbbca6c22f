@testable import Errand
import ErrandCore
import Testing

struct SettingsValueTests {
  @Test(
    arguments: [
      ("0", 0), ("3", 3), ("999999999", 999_999_999), ("", nil), ("-1", nil), ("+1", nil), ("1.5", nil),
      ("1000000000", nil),
      ("٣", nil), (" 3", nil), ("3 ", nil), ("0x1", nil), ("1e3", nil),
    ] as [(String, Int?)])
  func `count has only digits`(_ row: (text: String, count: Int?)) {
    #expect(SettingsValue.count(row.text) == row.count)
  }

  @Test(
    arguments: [
      ("500ms", .milliseconds(500)), ("30s", .seconds(30)), ("2m", .seconds(120)), ("1h", .seconds(3_600)),
      ("never", .never), ("0s", nil), ("30", nil), ("s", nil), ("", nil), ("1.5s", nil), ("-1s", nil), ("30 s", nil),
      ("30S", nil), ("1d", nil), ("30sec", nil), ("9999999999h", nil), ("999999999h", .never),
      ("1111111h", .after(.seconds(3_999_999_600))),
    ] as [(String, TimeLimit?)])
  func `time has a unit`(_ row: (text: String, limit: TimeLimit?)) {
    #expect(SettingsValue.limit(row.text) == row.limit)
  }

  @Test(
    arguments: [
      ("1B", 1), ("512KiB", 524_288), ("32MiB", 33_554_432), ("1GiB", 1_073_741_824), ("0B", nil), ("32", nil),
      ("32MB", nil), ("32mib", nil), ("MiB", nil), ("", nil), ("1 MiB", nil),
      ("999999999GiB", 1_073_741_822_926_258_176),
    ] as [(String, Int?)])
  func `size has a unit`(_ row: (text: String, bytes: Int?)) {
    #expect(SettingsValue.bytes(row.text) == row.bytes)
  }
}
