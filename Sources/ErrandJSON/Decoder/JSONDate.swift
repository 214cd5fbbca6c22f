import Foundation

/// Reads a date of the form `2026-11-21T16:00:00Z`, which most servers use. Foundation's own parser takes much longer.
struct JSONDate {
  private let text: UnsafePointer<UInt8>

  /// Returns the date of a text of the form `2026-11-21T16:00:00Z`. Returns nil for all other forms; Foundation then
  /// reads the text.
  static func moment(_ text: UnsafePointer<UInt8>, _ count: Int) -> Date? {
    count == 20 ? JSONDate(text: text).moment : nil
  }

  private var moment: Date? {
    guard text[4] == UInt8(ascii: "-"), text[7] == UInt8(ascii: "-"), text[10] == UInt8(ascii: "T"),
      text[13] == UInt8(ascii: ":"), text[16] == UInt8(ascii: ":"), text[19] == UInt8(ascii: "Z"),
      let century = pair(at: 0), let yearOfCentury = pair(at: 2), let month = pair(at: 5), let day = pair(at: 8),
      let hour = pair(at: 11), let minute = pair(at: 14), let second = pair(at: 17)
    else { return nil }
    let year = century * 100 + yearOfCentury
    // The result is nil for dates up to the year 1582. Foundation reads these dates, because it uses the Julian
    // calendar for early dates.
    guard year > 1582, 1...12 ~= month, 1...Self.length(of: month, year) ~= day, hour < 24, minute < 60, second < 60
    else { return nil }
    let days = Self.days(year, month, day)
    return Date(timeIntervalSince1970: Double(days * 86_400 + hour * 3_600 + minute * 60 + second))
  }

  /// The value of two digits; nil if one of the bytes is not a digit.
  private func pair(at place: Int) -> Int? {
    let (tens, ones) = (text[place] &- UInt8(ascii: "0"), text[place + 1] &- UInt8(ascii: "0"))
    return tens < 10 && ones < 10 ? Int(tens) * 10 + Int(ones) : nil
  }

  private static func length(of month: Int, _ year: Int) -> Int {
    switch month {
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }

  /// The number of days since 1 January 1970. The calculation begins each year in March, so that the leap day is the
  /// last day of a year.
  private static func days(_ year: Int, _ month: Int, _ day: Int) -> Int {
    let year = month > 2 ? year : year - 1
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    return year * 365 + year / 4 - year / 100 + year / 400 + dayOfYear - 719_468
  }
}
