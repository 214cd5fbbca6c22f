import ErrandCore
public import Foundation

/// The format in which dates are written in an XML document.
public struct XMLDates: Sendable {
  let read: @Sendable (String) -> Date?

  /// A custom format. The closure returns nil if the text is not a date.
  public init(_ read: @escaping @Sendable (String) -> Date?) {
    self.read = read
  }

  /// ISO 8601, in two forms:
  /// - a date with a time and a time zone, with or without fractional seconds: `2026-01-31T10:00:00.5+01:00`;
  /// - only a date, which means the first moment of this day in UTC.
  public static let iso8601 = XMLDates { text in
    guard let form = Form(text) else { return nil }
    let style =
      switch form {
      case .day: Date.ISO8601FormatStyle().year().month().day()
      case .seconds: Date.ISO8601FormatStyle()
      case .fraction: Date.ISO8601FormatStyle(includingFractionalSeconds: true)
      }
    return try? style.parse(text)
  }

  /// Dates that are written as the number of seconds since 1970.
  public static let secondsSince1970 = XMLDates { text in
    Double(text).flatMap { $0.isFinite ? Date(timeIntervalSince1970: $0) : nil }
  }
}

extension XMLDates {
  /// The form in which a date is written. The form is checked before parsing, because Foundation ignores text after a
  /// valid date.
  private enum Form {
    case day
    case seconds
    case fraction

    init?(_ text: String) {
      var rest = text.utf8[...]
      guard Self.take("0000-00-00", from: &rest) else { return nil }
      if rest.isEmpty {
        self = .day
        return
      }
      guard Self.take("T00:00:00", from: &rest) else { return nil }
      self = .seconds
      if rest.first == UInt8(ascii: ".") {
        let digits = rest.dropFirst().prefix(while: ASCII.isDigit)
        guard !digits.isEmpty else { return nil }
        rest = rest[digits.endIndex...]
        self = .fraction
      }
      let isZoned = ["Z", "+00:00", "-00:00", "+0000", "-0000"].contains { Self.take($0, from: &rest) }
      guard isZoned, rest.isEmpty else { return nil }
    }

    /// Removes the beginning of `rest` if it matches a pattern. In the pattern, `0` matches any digit. Returns false
    /// and removes nothing if it does not match.
    private static func take(_ pattern: String, from rest: inout Substring.UTF8View) -> Bool {
      let head = rest.prefix(pattern.utf8.count)
      let fits = head.elementsEqual(pattern.utf8) { $0 == $1 || ($1 == UInt8(ascii: "0") && ASCII.isDigit($0)) }
      if fits { rest = rest[head.endIndex...] }
      return fits
    }
  }
}
