/// Parses the dates of the cookie attribute `Expires` as leniently as RFC 6265 section 5.1.1 requires. ``HTTPDate``
/// parses the strict format of other fields.
enum CookieDate {
  private static let months: [StaticString] = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
  ]

  /// The components of a date that were found so far. If several tokens fit a component, the first of these tokens is
  /// used.
  private struct Found {
    var secondOfDay: Int64?
    var day: Int64?
    var month: Int64?
    var year: Int64?
  }

  /// The date in milliseconds since 1970 in UTC; nil if the text is not a date.
  static func milliseconds(of text: String) -> Int64? {
    var found = Found()
    for token in Array(text.utf8).split(whereSeparator: isDelimiter) {
      guard take(token, &found) else { return nil }
    }
    guard let second = found.secondOfDay, let day = found.day, let month = found.month, let year = found.year,
      year >= 1_601, let date = CivilDate(year: year, month: month, day: day)
    else { return nil }
    return (date.dayNumber * 86_400 + second) * 1_000
  }

  /// Stores a token in the first missing component that the token fits. Returns false if the token is an invalid time
  /// of day.
  private static func take(_ token: ArraySlice<UInt8>, _ found: inout Found) -> Bool {
    if found.secondOfDay == nil, let clock = clock(token) {
      guard clock.hour < 24, clock.minute < 60, clock.second < 60 else { return false }
      found.secondOfDay = (clock.hour * 60 + clock.minute) * 60 + clock.second
    } else if found.day == nil, let day = number(token, 1...2) {
      found.day = day
    } else if found.month == nil, let month = month(token) {
      found.month = month
    } else if found.year == nil, let year = number(token, 2...4) {
      found.year = year < 70 ? year + 2_000 : year < 100 ? year + 1_900 : year
    }
    return true
  }

  private static func isDelimiter(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x09, 0x20...0x2F, 0x3B...0x40, 0x5B...0x60, 0x7B...0x7E: true
    default: false
    }
  }

  /// Parses a time of day at the start of a token. Text after the time is ignored.
  private static func clock(_ token: ArraySlice<UInt8>) -> (hour: Int64, minute: Int64, second: Int64)? {
    let parts = token.split(separator: 0x3A, maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count == 3, let hour = whole(parts[0]), let minute = whole(parts[1]),
      let second = number(parts[2], 1...2)
    else { return nil }
    return (hour, minute, second)
  }

  /// Returns the number if the text consists of one or two digits; nil otherwise.
  private static func whole(_ text: ArraySlice<UInt8>) -> Int64? {
    text.allSatisfy(ASCII.isDigit) ? number(text, 1...2) : nil
  }

  /// Returns the number at the start of a token; nil if the number of its digits is not in `width`.
  private static func number(_ token: ArraySlice<UInt8>, _ width: ClosedRange<Int>) -> Int64? {
    let digits = token.prefix(while: ASCII.isDigit)
    guard width.contains(digits.count) else { return nil }
    return digits.reduce(0) { $0 * 10 + Int64($1 &- 0x30) }
  }

  private static func month(_ token: ArraySlice<UInt8>) -> Int64? {
    let name = token.prefix(3)
    let place = months.firstIndex { month in
      month.withUTF8Buffer { ASCII.equalFolded(name, $0) }
    }
    return place.map { Int64($0) + 1 }
  }
}
