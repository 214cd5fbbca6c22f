/// A day of the Gregorian calendar, which is also used for dates before its introduction, back to the year 0.
struct CivilDate {
  /// The first millisecond of the year 0, in milliseconds since 1970.
  static let first: Int64 = -62_167_219_200_000
  /// The last whole second of the year 9999, in milliseconds since 1970.
  static let last: Int64 = 253_402_300_799_000

  let year: Int64
  /// The month, from 1 to 12.
  let month: Int64
  /// The day of the month, from 1.
  let day: Int64

  /// Makes a day; nil if the calendar has no such day.
  init?(year: Int64, month: Int64, day: Int64) {
    guard (0...9_999).contains(year), (1...12).contains(month),
      (1...Self.length(ofMonth: month, in: year)).contains(day)
    else { return nil }
    self.year = year
    self.month = month
    self.day = day
  }

  /// Makes the day with the given number of days since 1970-01-01, which must be in the years 0 to 9999.
  init(day number: Int64) {
    // The estimated year is never too late: a year counts as 366 days after 1970, and as 365 days before 1970. The loop
    // below corrects an estimate that is too early.
    var year = max(1_970 + number / 366, 0)
    if number < 0 { year = max(1_970 + (number - 365) / 365, 0) }
    while Self.daysBefore(year + 1) <= number { year += 1 }
    var rest = number - Self.daysBefore(year)
    var month: Int64 = 1
    while month < 12, rest >= Self.length(ofMonth: month, in: year) {
      rest -= Self.length(ofMonth: month, in: year)
      month += 1
    }
    self.year = year
    self.month = month
    day = rest + 1
  }

  /// The number of days since 1970-01-01; negative for earlier days.
  var dayNumber: Int64 {
    (1..<month).reduce(Self.daysBefore(year)) { $0 + Self.length(ofMonth: $1, in: year) } + day - 1
  }

  /// The number of days from 1970-01-01 to the first day of a year; negative for years before 1970.
  private static func daysBefore(_ year: Int64) -> Int64 {
    let before = year - 1
    // The first day of 1970 is 719,162 days after the first day of the year 1.
    return 365 * before + (before >= 0 ? before / 4 - before / 100 + before / 400 : -1) - 719_162
  }

  private static func isLeap(_ year: Int64) -> Bool { year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) }

  private static func length(ofMonth month: Int64, in year: Int64) -> Int64 {
    switch month {
    case 2: isLeap(year) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }
}
