public import ErrandCore
public import Foundation

/// XML answers as `Decodable` values; see ``decode(_:from:of:)`` for how a document becomes one.
///
/// ```swift
/// struct Catalog: Decodable, Sendable {
///   struct Book: Decodable, Sendable { let id: String; let title: String; let price: Decimal }
///   let book: [Book]                                  // <catalog><book id="1"><title>…</title>…
/// }
/// var decoder: ResponseDecoder<Catalog> { .xml() }
/// ```
public struct XMLFormat: ResponseFormat {
  /// How large a document may be.
  public var limits: XMLLimits
  /// How dates are written.
  public var dates: XMLDates

  /// Makes the format.
  public init(limits: XMLLimits = XMLLimits(), dates: XMLDates = .iso8601) {
    self.limits = limits
    self.dates = dates
  }

  /// "XML".
  public var name: String { "XML" }
  /// Both registered names (RFC 7303).
  public var accept: String { Self.accepted }

  /// Both registered names, and every type that is built on XML (RFC 7303 section 4.2). A web page is not taken, nor one
  /// in XHTML: those are what a login or a gateway answers in place of a document.
  public var contentTypes: [String]? { Self.types }

  static let types = ["application/xml", "text/xml", "*/*+xml"]
  static let accepted = "application/xml, text/xml;q=0.9"

  /// Reads a value.
  ///
  /// - A key is the name of a child element, without prefix or as `{namespace}name`; where no child has it, that of an
  ///   attribute. `@name` is the attribute alone, and `#text` the element's own text.
  /// - Children of one name side by side are an array; none is an empty one. The outermost element as an array is all
  ///   its children.
  /// - Texts are taken as they stand. White space round numbers, booleans (`true`, `false`, `1`, `0`), dates and Base64
  ///   does not count.
  /// - An optional is nil where nothing has its name, where the element has nothing in it and no attributes, and where
  ///   it says `xsi:nil="true"`.
  ///
  /// - Throws: ``ErrandCore/FormatFailure`` with line and column where the document is broken, or with the path of a
  ///   value that does not fit, such as `catalog.book[2].price`.
  public func decode<Value: Decodable>(
    _ type: Value.Type, from body: Data, of response: HTTPResponse
  ) throws -> Value {
    try decode(type, from: try XMLValue(parsing: body, charset: response.charset, limits: limits))
  }

  /// Reads a value from an element of a document.
  /// - Throws: ``ErrandCore/FormatFailure`` with the path of what does not fit.
  public func decode<Value: Decodable>(_ type: Value.Type, from element: XMLValue) throws(FormatFailure) -> Value {
    do {
      return try XMLPlace(.element(element), path: [], dates: dates).decode(type)
    } catch let misfit as XMLMisfit {
      throw FormatFailure(.mismatch, misfit.words, path: FormatFailure.path(element.shownName, misfit.path))
    } catch {
      throw FormatFailure(error, root: element.shownName)
    }
  }
}

extension ResponseDecoder where Value: Decodable {
  /// XML, read as ``ErrandXML/XMLFormat`` says.
  public static func xml(limits: XMLLimits = XMLLimits(), dates: XMLDates = .iso8601) -> ResponseDecoder {
    .format(XMLFormat(limits: limits, dates: dates))
  }
}

extension ResponseDecoder where Value == XMLValue {
  /// XML as a document.
  public static func xml(limits: XMLLimits = XMLLimits()) -> ResponseDecoder {
    ResponseDecoder("XML", accept: XMLFormat.accepted, contentTypes: XMLFormat.types) { body, response in
      try XMLValue(parsing: body, charset: response.charset, limits: limits)
    }
  }
}
