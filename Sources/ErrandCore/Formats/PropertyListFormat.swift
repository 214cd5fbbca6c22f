public import Foundation

/// The format of property lists, binary and XML. Foundation reads and writes the property lists.
///
/// Each body is checked before Foundation reads the body, because a hostile body could end the process or occupy it
/// forever. A body is rejected if
///
/// - it is nested deeper than 100 levels,
/// - an object in the body contains itself,
/// - it expands to more than 1,000,000 values,
/// - its texts and data take more than 64 MiB in addition to the size of the body.
///
/// Foundation reads XML property lists with its own parser, so libxml2 is not linked.
public struct PropertyListFormat: BodyFormat, ResponseFormat {
  /// The form in which a property list is written.
  public enum Form: Sendable, Hashable {
    /// The property list is written as XML, which people can read.
    case xml
    /// The property list is written in Apple's binary form, which is smaller than XML.
    case binary
  }

  /// The largest number of nested levels of arrays and dictionaries.
  package static let deepest = 100
  /// The largest number of values in a body. A value that is referenced several times counts each time.
  package static let mostValues = 1_000_000
  /// The largest number of bytes that texts and data may take in addition to the size of the body. If a binary body
  /// references a text several times, the bytes of the text count each time.
  package static let mostRepeated = 64 << 20

  /// The form in which request bodies are written.
  package let form: Form

  /// Makes a format that writes bodies in the given form. Responses are read in both forms.
  public init(_ form: Form = .xml) {
    self.form = form
  }

  /// The name "property list".
  public var name: String { "property list" }
  /// The content type `application/x-plist`, which servers and Apple's programs use. No content type is registered for
  /// property lists.
  public var contentType: String { "application/x-plist" }
  /// The content types under which servers send property lists.
  public var accept: String { "application/x-plist, application/xml;q=0.9, text/xml;q=0.8" }

  /// Encodes a value. The outermost container of the value must be an array or a dictionary.
  /// - Throws: `EncodingError`.
  public func encode<Value: Encodable>(_ value: Value) throws -> Data {
    let encoder = PropertyListEncoder()
    encoder.outputFormat = form == .xml ? .xml : .binary
    return try encoder.encode(value)
  }

  /// Decodes a value from a property list, binary or XML.
  /// - Throws: ``FormatFailure`` if the body is not a valid property list, exceeds a limit, or does not fit the type.
  public func decode<Value: Decodable>(
    _ type: Value.Type, from body: Data, of response: HTTPResponse
  ) throws -> Value {
    let checked = try Self.checked(body, charset: response.charset)
    do {
      return try PropertyListDecoder().decode(type, from: checked)
    } catch DecodingError.dataCorrupted(let context) where context.codingPath.isEmpty {
      throw FormatFailure(
        .malformed, "the body is not a property list, or ends too early",
        underlying: DecodingError.dataCorrupted(context))
    } catch {
      throw FormatFailure(error)
    }
  }

  /// Returns the body in a form that is safe for Foundation: a binary property list is unchanged; an XML property list
  /// is converted to UTF-8, without XML declaration and document type.
  package static func checked(_ body: Data, charset: String?) throws(FormatFailure) -> Data {
    guard !body.isEmpty else { throw FormatFailure(.empty, "the body is empty") }
    if body.starts(with: "bplist".utf8) {
      try BinaryPropertyListCheck(body).run()
      return body
    }
    let text = try MarkupText(body, charset: charset)
    guard text.bytes.first(where: { !MarkupText.isSpace($0) }) == UInt8(ascii: "<") else {
      throw FormatFailure(.malformed, "a property list begins with \"bplist\" or \"<\"; this body does not")
    }
    return try text.checked(MarkupLimits(depth: deepest, nodes: mostValues))
  }
}

extension HTTPResponse {
  /// The charset in `Content-Type`; nil if the field names no charset or an empty one.
  package var charset: String? { fields.mediaType?["charset"].flatMap { $0.isEmpty ? nil : $0 } }
}

extension RequestBody {
  /// A request body that contains any `Encodable` value as an XML property list, `application/x-plist`; see
  /// ``PropertyListFormat``.
  public static func propertyList(_ value: some Encodable & Sendable) -> RequestBody {
    encoded(value, as: PropertyListFormat())
  }
}

extension ResponseDecoder where Value: Decodable {
  /// A decoder for a response that is a property list, binary or XML; see ``PropertyListFormat``.
  public static func propertyList() -> ResponseDecoder { .format(PropertyListFormat()) }
}
