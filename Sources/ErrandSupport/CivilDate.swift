/// A day of the Gregorian calendar, which is also used for dates before its introduction, back to the year 0. The type
/// is public and inlinable so that other modules can specialise it; see ``Locked``.
///
/// The calculations begin each year in March, so that the leap day is the last day of a year. They count from March of
/// the year -400, so that they divide no negative number. A cycle of 400 years has 146,097 days.
@frozen public struct CivilDate: Sendable {
  /// The year, from 0 to 9999.
  public let year: Int64
  /// The month, from 1 to 12.
  public let month: Int64
  /// The day of the month, from 1.
  public let day: Int64

  /// Makes a day; nil if the calendar has no such day.
  @inlinable public init?(year: Int64, month: Int64, day: Int64) {
    guard 0...9_999 ~= year, 1...12 ~= month, 1...Self.length(ofMonth: month, in: year) ~= day else { return nil }
    self.year = year
    self.month = month
    self.day = day
  }

  /// Makes the day with the given number of days since 1970-01-01, which must be in the years 0 to 9999.
  @inlinable public init(day number: Int64) {
    let days = number + 719_468 + 146_097
    let (cycle, dayOfCycle) = (days / 146_097, days % 146_097)
    let yearOfCycle = (dayOfCycle - dayOfCycle / 1_460 + dayOfCycle / 36_524 - dayOfCycle / 146_096) / 365
    let dayOfYear = dayOfCycle - (365 * yearOfCycle + yearOfCycle / 4 - yearOfCycle / 100)
    let marchMonth = (5 * dayOfYear + 2) / 153
    year = cycle * 400 - 400 + yearOfCycle + (marchMonth < 10 ? 0 : 1)
    month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
    day = dayOfYear - (153 * marchMonth + 2) / 5 + 1
  }

  /// The number of days since 1970-01-01; negative for earlier days.
  @inlinable public var dayNumber: Int64 {
    let years = year + (month > 2 ? 400 : 399)
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    return years * 365 + years / 4 - years / 100 + years / 400 + dayOfYear - 719_468 - 146_097
  }

  @inlinable static func length(ofMonth month: Int64, in year: Int64) -> Int64 {
    switch month {
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }
}
