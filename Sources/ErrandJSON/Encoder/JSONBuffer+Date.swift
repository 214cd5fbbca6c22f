import Foundation

extension JSONBuffer<UInt8> {
  /// Writes a date as `2026-11-21T16:00:00Z` in quotation marks, rounded down to the second.
  func write(iso8601 date: Date) {
    let seconds = date.timeIntervalSince1970.rounded(.down)
    // The limits are the first day of the Gregorian calendar and the end of the year 9999, in seconds since 1970.
    // Foundation writes dates outside these limits.
    guard seconds >= -12_219_292_800, seconds <= 253_402_300_799 else {
      write(date.formatted(.iso8601))
      return
    }
    let whole = Int(seconds)
    let days = whole >= 0 ? whole / 86_400 : (whole - 86_399) / 86_400
    let time = whole - days * 86_400
    let (year, month, day) = Self.civil(days: days)
    append(UInt8(ascii: "\""))
    write(part: year, width: 4, "-")
    write(part: month, width: 2, "-")
    write(part: day, width: 2, "T")
    write(part: time / 3_600, width: 2, ":")
    write(part: time / 60 % 60, width: 2, ":")
    write(part: time % 60, width: 2, "Z")
    append(UInt8(ascii: "\""))
  }

  private func write(part: Int, width: Int, _ mark: StaticString) {
    write(digits: UInt64(part.magnitude), width: width)
    write(word: mark)
  }

  /// Converts a number of days since 1 January 1970 to a date. The calculation begins each year in March, so that the
  /// leap day is the last day of a year. A cycle of 400 years has 146 097 days.
  private static func civil(days: Int) -> (year: Int, month: Int, day: Int) {
    let shifted = days + 719_468
    let (era, dayOfEra) = (shifted / 146_097, shifted % 146_097)
    let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let marchMonth = (5 * dayOfYear + 2) / 153
    let day = dayOfYear - (153 * marchMonth + 2) / 5 + 1
    let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
    return (era * 400 + yearOfEra + (month <= 2 ? 1 : 0), month, day)
  }
}
