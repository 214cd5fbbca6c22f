public import ErrandCore
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
