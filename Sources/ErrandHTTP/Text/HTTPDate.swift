import ErrandSupport
public import Foundation

/// Parses and writes the dates of HTTP, such as `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110 section 5.6.7). Dates are
/// parsed strictly, and are written in the preferred form of the RFC.
///
/// ```swift
/// let time = response.raw.fields["Date"].flatMap { HTTPDate.date(of: $0) }
/// ```
public enum HTTPDate {
  private static let days: [StaticString] = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
  private static let longDays: [StaticString] = [
    "Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday",
  ]
  static let months: [StaticString] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  /// The first millisecond of the year 0, in milliseconds since 1970.
  private static let firstMoment: Int64 = -62_167_219_200_000
  /// The last whole second of the year 9999, in milliseconds since 1970.
  private static let lastMoment: Int64 = 253_402_300_799_000

  /// The current time of the system's clock in milliseconds since 1970.
  static var present: Int64 { Int64(exactly: (Date().timeIntervalSince1970 * 1_000).rounded(.down)) ?? 0 }

  /// Parses the value of a field such as `Date` or `Last-Modified`, in one of the three forms of RFC 9110 section
  /// 5.6.7. Returns nil for any other text, even for a date with spaces around it.
  ///
  /// The name of the day must be valid, but need not match the date. A date with a year of two digits is at most 50
  /// years after the present.
  public static func date(of text: String) -> Date? {
    milliseconds(of: text, now: present).map { Date(timeIntervalSince1970: Double($0) / 1_000) }
  }

  /// Writes a date as `Sun, 06 Nov 1994 08:49:37 GMT`. Fractions of a second are left out, and the date is clamped to
  /// the years 0 to 9999.
  public static func text(of date: Date) -> String {
    let time = (date.timeIntervalSince1970 * 1_000).rounded(.down)
    return text(milliseconds: Int64(exactly: min(max(time, Double(firstMoment)), Double(lastMoment))) ?? 0)
  }

  /// Parses a date in one of the three forms of RFC 9110 section 5.6.7, as milliseconds since 1970 in UTC. Returns nil
  /// for any other text, even for a date with spaces around it.
  ///
  /// The names of days and months and the zone are read without regard to case. The name of the day must be valid, but
  /// need not match the date. A date with a year of two digits is at most 50 years after `now`.
  package static func milliseconds(of text: String, now: Int64) -> Int64? {
    var reader = HTTPDateReader(text)
    switch text.utf8.count {
    case 29: return preferred(&reader)
    case 24: return asctime(&reader)
    default: return rfc850(&reader, now: now)
    }
  }

  /// Writes milliseconds since 1970 in UTC as `Sun, 06 Nov 1994 08:49:37 GMT`, clamped to the years 0 to 9999.
  package static func text(milliseconds: Int64) -> String {
    let milliseconds = min(max(milliseconds, firstMoment), lastMoment)
    let seconds = (milliseconds - (milliseconds % 1_000 + 1_000) % 1_000) / 1_000
    let secondOfDay = (seconds % 86_400 + 86_400) % 86_400
    let day = (seconds - secondOfDay) / 86_400
    let date = CivilDate(day: day)
    let weekday = days[Int(((day + 4) % 7 + 7) % 7)]
    let clock = [secondOfDay / 3_600, secondOfDay / 60 % 60, secondOfDay % 60].map { padded($0, 2) }
    let month = months[Int(date.month) - 1]
    return "\(weekday), \(padded(date.day, 2)) \(month) \(padded(date.year, 4)) \(clock.joined(separator: ":")) GMT"
  }

  /// Parses the preferred form, `Sun, 06 Nov 1994 08:49:37 GMT`.
  private static func preferred(_ reader: inout HTTPDateReader) -> Int64? {
    guard reader.word(of: days) != nil, reader.take(", "), let day = reader.number(2), reader.take(" "),
      let month = reader.word(of: months), reader.take(" "), let year = reader.number(4), reader.take(" "),
      let clock = reader.clock(), reader.take(" GMT"), reader.isAtEnd
    else { return nil }
    return time(year, month, day, clock)
  }

  /// Parses the form of RFC 850, `Sunday, 06-Nov-94 08:49:37 GMT`.
  private static func rfc850(_ reader: inout HTTPDateReader, now: Int64) -> Int64? {
    guard reader.word(of: longDays) != nil, reader.take(", "), let day = reader.number(2), reader.take("-"),
      let month = reader.word(of: months), reader.take("-"), let short = reader.number(2), reader.take(" "),
      let clock = reader.clock(), reader.take(" GMT"), reader.isAtEnd
    else { return nil }
    let now = min(max(now, firstMoment), lastMoment)
    let today = CivilDate(day: now / 86_400_000)
    let latest = (today.year + 50, today.month, today.day, now / 1_000 % 86_400)
    let century = today.year - today.year % 100
    // A day that the calendar does not have in one of the years, such as 29 February 2100, is in an earlier year.
    return [century + 100 + short, century + short, century - 100 + short]
      .filter { ($0, Int64(month) + 1, day, clock) <= latest }
      .compactMap { time($0, month, day, clock) }.first
  }

  /// Parses the form of `asctime` in C, `Sun Nov  6 08:49:37 1994`.
  private static func asctime(_ reader: inout HTTPDateReader) -> Int64? {
    guard reader.word(of: days) != nil, reader.take(" "), let month = reader.word(of: months), reader.take(" "),
      let day = reader.take(" ") ? reader.number(1) : reader.number(2), reader.take(" "),
      let clock = reader.clock(), reader.take(" "), let year = reader.number(4), reader.isAtEnd
    else { return nil }
    return time(year, month, day, clock)
  }

  private static func time(_ year: Int64, _ month: Int, _ day: Int64, _ secondOfDay: Int64) -> Int64? {
    guard let date = CivilDate(year: year, month: Int64(month) + 1, day: day) else { return nil }
    return (date.dayNumber * 86_400 + secondOfDay) * 1_000
  }

  private static func padded(_ number: Int64, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(width - digits.count, 0)) + digits
  }
}

/// Reads the components of an HTTP date one after the other, byte by byte.
struct HTTPDateReader {
  private let bytes: [UInt8]
  private var place = 0

  init(_ text: String) { bytes = Array(text.utf8) }

  /// Whether all bytes of the date text have been read.
  var isAtEnd: Bool { place == bytes.count }

  /// Reads `text` at the current position, without regard to case. Returns false and reads nothing if other bytes
  /// follow.
  mutating func take(_ text: StaticString) -> Bool {
    let count = text.utf8CodeUnitCount
    guard bytes.count - place >= count else { return false }
    for index in 0..<count
    where ASCII.lowercased(bytes[place + index]) != ASCII.lowercased(text.utf8Start[index]) { return false }
    place += count
    return true
  }

  /// Reads one of the given words at the current position and returns its index in `words`; nil if none of the words
  /// follows.
  mutating func word(of words: [StaticString]) -> Int? {
    for (index, word) in words.enumerated() where take(word) { return index }
    return nil
  }

  /// Reads a number with exactly `width` digits at the current position; nil if other bytes follow.
  mutating func number(_ width: Int) -> Int64? {
    guard bytes.count - place >= width else { return nil }
    var number: Int64 = 0
    for byte in bytes[place..<(place + width)] {
      guard ASCII.isDigit(byte) else { return nil }
      number = number * 10 + Int64(byte &- 0x30)
    }
    place += width
    return number
  }

  /// Reads a time such as `08:49:37` and returns it as seconds since midnight. A leap second counts as the first second
  /// of the next minute.
  mutating func clock() -> Int64? {
    guard let hour = number(2), take(":"), let minute = number(2), take(":"), let second = number(2), hour < 24,
      minute < 60, second <= 60
    else { return nil }
    return (hour * 60 + minute) * 60 + second
  }
}
