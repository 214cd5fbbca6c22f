public import Foundation

/// Property lists: binary and XML, read and written by Foundation.
///
/// Each body is checked before Foundation reads the body, because a hostile body could end the process or occupy it
/// forever. A body is rejected if
///
/// - it is nested deeper than ``deepest`` levels,
/// - it contains itself,
/// - it expands to more than ``mostValues`` values,
/// - its texts and data take more than ``mostRepeated`` bytes in addition to the size of the body.
///
/// Foundation reads XML property lists with its own parser, so libxml2 is not linked.
public struct PropertyListFormat: BodyFormat, ResponseFormat {
  /// The form in which a property list is written.
  public enum Form: Sendable, Hashable {
    /// XML, which people can read.
    case xml
    /// Apple's binary form, which is smaller.
    case binary
  }

  /// How deep arrays and dictionaries may be nested.
  public static let deepest = 100
  /// How many values there may be. A value that is referenced several times counts each time.
  public static let mostValues = 1_000_000
  /// How many bytes texts and data may take in addition to the size of a binary body that references them repeatedly.
  public static let mostRepeated = 64 << 20

  /// The form in which bodies are written.
  public let form: Form

  /// Makes the format; responses are read in both forms.
  public init(_ form: Form = .xml) {
    self.form = form
  }

  /// The name "property list".
  public var name: String { "property list" }
  /// No content type is registered for the format. Servers and Apple's programs use `application/x-plist`.
  public var contentType: String { "application/x-plist" }
  /// The names under which servers send property lists.
  public var accept: String { "application/x-plist, application/xml;q=0.9, text/xml;q=0.8" }

  /// Writes a value; its outermost container must be an array or a dictionary.
  /// - Throws: `EncodingError`.
  public func encode<Value: Encodable>(_ value: Value) throws -> Data {
    let encoder = PropertyListEncoder()
    encoder.outputFormat = form == .xml ? .xml : .binary
    return try encoder.encode(value)
  }

  /// Reads a value.
  /// - Throws: ``FormatFailure``.
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

  /// The body in the form that is safe for Foundation: a binary list unchanged, an XML one in UTF-8 without its
  /// declarations.
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
  /// The charset in `Content-Type`; nil if there is none or it is empty.
  package var charset: String? { fields.mediaType?["charset"].flatMap { $0.isEmpty ? nil : $0 } }
}

extension RequestBody {
  /// Any `Encodable` value as an XML property list, `application/x-plist`; see ``PropertyListFormat``.
  public static func propertyList(_ value: some Encodable & Sendable) -> RequestBody {
    encoded(value, as: PropertyListFormat())
  }
}

extension ResponseDecoder where Value: Decodable {
  /// A property list, binary or XML; see ``PropertyListFormat``.
  public static func propertyList() -> ResponseDecoder { .format(PropertyListFormat()) }
}
