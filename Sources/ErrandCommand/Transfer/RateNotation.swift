/// Reads rates as people write them: 500k, 2M, 1.5G; bytes a second where no unit is named.
enum RateNotation {
  private static let units: [Character: Double] = [
    "k": 1_024, "K": 1_024, "m": 1_048_576, "M": 1_048_576, "g": 1_073_741_824, "G": 1_073_741_824,
  ]
  private static let most: Double = 1_099_511_627_776

  /// A rate in bytes a second, at least 1.
  static func bytesPerSecond(_ text: String, of option: String) throws(UsageError) -> Int64 {
    let unit = text.last.flatMap { units[$0] }
    let digits = unit == nil ? text[...] : text.dropLast()
    let isPlain = !digits.isEmpty && digits.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == 0x2E }
    guard isPlain, let number = Double(digits), number * (unit ?? 1) <= most,
      let rate = Int64(exactly: (number * (unit ?? 1)).rounded(.down)), rate > 0
    else { throw UsageError("\(option) needs a rate such as 500k, 2M or 1.5G bytes a second, not “\(text)”") }
    return rate
  }
}
