import ErrandCore
import ErrandHTTP

/// Parses the values of settings. Each function returns nil if the text has not the form that
/// ``ClientSetting/form`` describes.
enum SettingsValue {
  /// A whole number without a sign, such as `3`.
  static func count(_ text: String) -> Int? {
    let digits = Array(text.utf8)
    guard !digits.isEmpty, digits.count <= 9, digits.allSatisfy(ASCII.isDigit) else { return nil }
    return Int(text)
  }

  /// A time with its unit, such as `500ms`, `30s`, `2m` or `1h`, or `never`. Zero is no time limit that a call can
  /// meet, so it is rejected.
  static func limit(_ text: String) -> TimeLimit? {
    if text == "never" { return .never }
    return measured(text, [("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000)])
      .map { $0 < 4_000_000_000_000 ? .milliseconds($0) : .never }  // as ``TimeLimit/seconds(_:)``
  }

  /// A number of bytes with its unit, such as `512KiB`, `32MiB` or `1GiB`. Zero is rejected.
  static func bytes(_ text: String) -> Int? {
    measured(text, [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("B", 1)])
  }

  private static func measured(_ text: String, _ units: [(name: String, size: Int)]) -> Int? {
    let digits = text.utf8.prefix(while: ASCII.isDigit)
    let unit = text.utf8.dropFirst(digits.count)
    guard let number = count(String(decoding: digits, as: UTF8.self)), number > 0,
      let size = units.first(where: { $0.name.utf8.elementsEqual(unit) })?.size
    else { return nil }
    let (product, overflow) = number.multipliedReportingOverflow(by: size)
    return overflow ? nil : product
  }
}
