/// Reads spans of time as people write them: 90, 30s, 10m, 2h, 7d.
enum SpanNotation {
  /// Units in seconds.
  private static let units: [Character: Double] = ["s": 1, "m": 60, "h": 3_600, "d": 86_400]
  private static let most: Double = 100 * 365 * 86_400

  /// A span above nothing; seconds where no unit is named.
  static func span(_ text: String, of option: String) throws(UsageError) -> Duration {
    let unit = text.last.flatMap { units[$0] }
    let digits = unit == nil ? text[...] : text.dropLast()
    let isPlain = !digits.isEmpty && digits.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == 0x2E }
    guard isPlain, let number = Double(digits), number > 0, number * (unit ?? 1) <= most else {
      throw UsageError("\(option) needs a time such as 30s, 10m, 2h or 7d, not “\(text)”")
    }
    return .seconds(number * (unit ?? 1))
  }
}
