public import Foundation

/// Dates as texts of ISO 8601.
package enum ISO8601Text {
  /// The seconds since 1970 that Foundation's calendar can represent: about 5.7 million years before and after. For a
  /// finite date outside this range Foundation writes the text of another date, and for a date that is not finite it
  /// ends the process.
  private static let calendarSeconds: ClosedRange<Double> = -1.8e14...1.8e14

  /// The years 0 to 9999 of the Gregorian calendar, in seconds since 1970.
  private static let fourDigitSeconds: ClosedRange<Double> = -62_167_219_200...253_402_300_799

  /// Whether Foundation can write a date as ISO 8601.
  static func isWritable(_ date: Date) -> Bool { calendarSeconds.contains(date.timeIntervalSince1970) }

  /// The reason in the error for a date that ``isWritable(_:)`` rejects.
  static let unwritable = "Unable to encode a date as ISO 8601 that is infinite, NaN or millions of years away."

  /// The text of a date in the format of RFC 3339, rounded to the millisecond; nil if the year does not have four
  /// digits, as RFC 3339 requires. For such dates Foundation writes a longer text, or even the text of another date.
  /// - Parameter always: Whether the text has milliseconds if they are zero, too.
  package static func milliseconds(of date: Date, always: Bool) -> String? {
    let milliseconds = (date.timeIntervalSince1970 * 1000).rounded()
    let seconds = (milliseconds / 1000).rounded(.down)
    guard fourDigitSeconds.contains(seconds) else { return nil }
    let text = Date(timeIntervalSince1970: seconds).formatted(.iso8601)
    guard let fraction = Int(exactly: milliseconds - seconds * 1000), fraction > 0 || always else { return text }
    let digits = String(repeating: "0", count: max(3 - "\(fraction)".count, 0)) + "\(fraction)"
    return "\(text.dropLast()).\(digits)Z"
  }

  /// The date of a text of ISO 8601 with or without fractions of a second; nil for any other text. Foundation before
  /// Swift 6.2 needs a format of its own for each of the two.
  static func date(of text: String) -> Date? {
    if let date = try? Date.ISO8601FormatStyle().parse(text) { return date }
    return try? Date.ISO8601FormatStyle(includingFractionalSeconds: true).parse(text)
  }

  /// Writes the text of a date.
  /// - Throws: `EncodingError` with the coding path if the text is nil.
  fileprivate static func write(_ text: String?, of date: Date, to encoder: any Encoder, or reason: String) throws {
    guard let text else {
      throw EncodingError.invalidValue(
        date, EncodingError.Context(codingPath: encoder.codingPath, debugDescription: reason))
    }
    var container = encoder.singleValueContainer()
    try container.encode(text)
  }
}

extension JSONEncoder.DateEncodingStrategy {
  /// Dates in the format of RFC 3339 with milliseconds, such as `2026-01-31T12:00:00.250Z`. The strategy `.iso8601`
  /// writes whole seconds.
  ///
  /// A date is rounded to the millisecond. A date outside the years 0 to 9999 is an `EncodingError`, because RFC 3339
  /// has no text for it. ``JSONDecoding/fast(dates:keys:data:)`` reads the text with the strategy `.iso8601`.
  public static var iso8601WithFractionalSeconds: Self {
    .custom { date, encoder in
      try ISO8601Text.write(
        ISO8601Text.milliseconds(of: date, always: true), of: date, to: encoder,
        or: "Unable to encode a date outside the years 0 to 9999 in the format of RFC 3339.")
    }
  }

  /// The same strategy for `JSONEncoder`, but with an error for each date that the strategy `.iso8601` cannot
  /// represent. At some of these dates `JSONEncoder` ends the process, and for the others it writes another date.
  var guarded: Self {
    guard case .iso8601 = self else { return self }
    return .custom { date, encoder in
      try ISO8601Text.write(
        ISO8601Text.isWritable(date) ? date.formatted(.iso8601) : nil, of: date, to: encoder,
        or: ISO8601Text.unwritable)
    }
  }
}
