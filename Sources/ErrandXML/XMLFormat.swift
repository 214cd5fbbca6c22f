public import ErrandCore
import ErrandSupport
public import Foundation

/// Reads XML responses as `Decodable` values. ``decode(_:from:of:)`` describes how elements map to types.
///
/// ```swift
/// struct Catalog: Decodable, Sendable {
///   struct Book: Decodable, Sendable { let id: String; let title: String; let price: Decimal }
///   let book: [Book]                                  // <catalog><book id="1"><title>…</title>…
/// }
/// var decoder: ResponseDecoder<Catalog> { .xml() }
/// ```
public struct XMLFormat: ResponseFormat {
  /// The limits for the size of a document.
  public var limits: XMLLimits
  /// The format of dates in the document.
  public var dates: XMLDates

  /// Creates the format.
  public init(limits: XMLLimits = XMLLimits(), dates: XMLDates = .iso8601) {
    self.limits = limits
    self.dates = dates
  }

  /// The name of the format in errors: "XML".
  public var name: String { "XML" }
  /// The value of the `Accept` field: the two registered media types of XML (RFC 7303).
  public var accept: String { Self.accepted }

  /// The two registered media types of XML, and every type with the suffix `+xml` (RFC 7303 section 4.2). Web pages in
  /// HTML and XHTML are not accepted: a login page or a gateway may send them instead of the requested document.
  public var contentTypes: [String]? { Self.types }

  static let types = ["application/xml", "text/xml", "*/*+xml"]
  static let accepted = "application/xml, text/xml;q=0.9"

  /// Decodes a value from the body of a response.
  ///
  /// - A key is the name of a child element: without prefix, or as `{namespace}name`. If no child has the name, the key
  ///   is the name of an attribute. `@name` is always an attribute, and `#text` is the element's own text.
  /// - Children with the same name are read as an array. If there is no such child, the array is empty.
  /// - If the root element is read as an array, all its children are the elements of the array.
  /// - Text is read unchanged. White space around numbers, Booleans (`true`, `false`, `1`, `0`), dates and Base64 is
  ///   ignored.
  /// - An optional is nil if no child or attribute has its name, if the element has neither content nor attributes, or
  ///   if the element has `xsi:nil="true"`.
  ///
  /// - Throws: ``ErrandCore/FormatFailure``. If the document is not well-formed, the error has the line and column. If
  ///   a value does not fit its type, the error has the path of the value, such as `catalog.book[2].price`.
  public func decode<Value: Decodable>(
    _ type: Value.Type, from body: Data, of response: HTTPResponse
  ) throws -> Value {
    try decode(type, from: try XMLValue(parsing: body, charset: response.charset, limits: limits))
  }

  /// Decodes a value from an element of a document.
  /// - Throws: ``ErrandCore/FormatFailure`` with the path of the value that does not fit its type.
  public func decode<Value: Decodable>(_ type: Value.Type, from element: XMLValue) throws(FormatFailure) -> Value {
    do {
      return try XMLValueDecoder(.element(element), path: [], dates: dates).decode(type)
    } catch let mismatch as XMLMismatch {
      throw FormatFailure(.mismatch, mismatch.words, path: FormatFailure.path(element.shownName, mismatch.path))
    } catch {
      throw FormatFailure(error, root: element.shownName)
    }
  }
}

extension ResponseDecoder where Value: Decodable {
  /// Decodes an XML response with ``ErrandXML/XMLFormat``.
  public static func xml(limits: XMLLimits = XMLLimits(), dates: XMLDates = .iso8601) -> ResponseDecoder {
    .format(XMLFormat(limits: limits, dates: dates))
  }
}

extension ResponseDecoder where Value == XMLValue {
  /// Reads a response as an XML document, without converting it to another type.
  public static func xml(limits: XMLLimits = XMLLimits()) -> ResponseDecoder {
    ResponseDecoder("XML", accept: XMLFormat.accepted, contentTypes: XMLFormat.types) { body, response in
      try XMLValue(parsing: body, charset: response.charset, limits: limits)
    }
  }
}

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
  ///
  /// A date or time that does not exist, such as `2026-02-30`, is an error. The time `24:00:00` is the end of the day,
  /// and the second 60 is a leap second, which counts as the first second of the next minute.
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
  /// The form in which a date is written. The form and the numbers are checked before parsing, because Foundation
  /// ignores text after a valid date, and reads a date that does not exist as another date: February 30 as March 2.
  private enum Form {
    case day
    case seconds
    case fraction

    init?(_ text: String) {
      var rest = text.utf8[...]
      guard let day = Self.take("0000-00-00", from: &rest),
        CivilDate(year: day[0], month: day[1], day: day[2]) != nil
      else { return nil }
      if rest.isEmpty {
        self = .day
        return
      }
      guard let time = Self.take("T00:00:00", from: &rest) else { return nil }
      let isEndOfDay = time == [24, 0, 0]
      guard isEndOfDay || time[0] < 24 && time[1] < 60 && time[2] <= 60 else { return nil }
      self = .seconds
      if rest.first == UInt8(ascii: ".") {
        let digits = rest.dropFirst().prefix(while: ASCII.isDigit)
        let isZero = digits.allSatisfy { $0 == UInt8(ascii: "0") }
        guard !digits.isEmpty, isZero || !isEndOfDay else { return nil }
        rest = rest[digits.endIndex...]
        self = .fraction
      }
      guard Self.takeZone(from: &rest), rest.isEmpty else { return nil }
    }

    private static func takeZone(from rest: inout Substring.UTF8View) -> Bool {
      for pattern in ["Z", "+00:00", "-00:00", "+0000", "-0000"] {
        guard let numbers = take(pattern, from: &rest) else { continue }
        // The hours and minutes as one number: 130 for `+01:30` and for `+0130`, and 0 for `Z`.
        let offset = numbers.reduce(0) { $0 * 100 + $1 }
        return offset < 24_00 && offset % 100 < 60
      }
      return false
    }

    /// Removes the beginning of `rest` if it matches a pattern, and returns its numbers. In the pattern, `0` matches
    /// any digit. Returns nil and removes nothing if it does not match.
    private static func take(_ pattern: String, from rest: inout Substring.UTF8View) -> [Int64]? {
      let head = rest.prefix(pattern.utf8.count)
      let fits = head.elementsEqual(pattern.utf8) { $0 == $1 || ($1 == UInt8(ascii: "0") && ASCII.isDigit($0)) }
      guard fits else { return nil }
      rest = rest[head.endIndex...]
      return head.split { !ASCII.isDigit($0) }.map { digits in digits.reduce(0) { $0 * 10 + Int64($1 &- 0x30) } }
    }
  }
}
