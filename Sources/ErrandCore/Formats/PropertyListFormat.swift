public import Foundation

/// Property lists: binary and in XML, read and written by Foundation.
///
/// Before Foundation sees a body it is checked: one that is nested deeper than ``deepest`` levels, holds itself, or
/// unfolds to more than ``mostValues`` values or ``mostRepeated`` bytes more than it has is refused, since it could end
/// the process or keep it busy for ever.
/// Foundation reads XML property lists by a parser of its own, so libxml2 is not linked.
public struct PropertyListFormat: BodyFormat, ResponseFormat {
  /// How a property list is written.
  public enum Form: Sendable, Hashable {
    /// As XML, which people can read.
    case xml
    /// In Apple's binary form, which is smaller.
    case binary
  }

  /// How deep arrays and dictionaries may stand in each other.
  public static let deepest = 100
  /// How many values there may be, those that stand in several places counted at each.
  public static let mostValues = 1_000_000
  /// How many bytes texts and data may take beyond those of a binary body, where one of them stands in several places.
  public static let mostRepeated = 64 << 20

  /// How bodies are written.
  public let form: Form

  /// Makes the format; answers are read in either form.
  public init(_ form: Form = .xml) {
    self.form = form
  }

  /// "property list".
  public var name: String { "property list" }
  /// The registered name does not exist; this is what servers and Apple's own programs use.
  public var contentType: String { "application/x-plist" }
  /// Property lists under the names in use.
  public var accept: String { "application/x-plist, application/xml;q=0.9, text/xml;q=0.8" }

  /// Writes a value; it must be an array or a dictionary on the outside.
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
        .malformed, "this is no property list, or one that breaks off",
        underlying: DecodingError.dataCorrupted(context))
    } catch {
      throw FormatFailure(error)
    }
  }

  /// What may be given to Foundation: a binary list as it is, one in XML in UTF-8 without its declarations.
  package static func checked(_ body: Data, charset: String?) throws(FormatFailure) -> Data {
    guard !body.isEmpty else { throw FormatFailure(.empty, "the body is empty") }
    if body.starts(with: "bplist".utf8) {
      try BinaryPropertyListCheck(body).run()
      return body
    }
    let text = try MarkupText(body, charset: charset)
    guard text.bytes.first(where: { !MarkupText.isSpace($0) }) == UInt8(ascii: "<") else {
      throw FormatFailure(.malformed, "a property list begins with \"bplist\" or \"<\"; this is something else")
    }
    return try text.checked(MarkupLimits(depth: deepest, nodes: mostValues))
  }
}

extension HTTPResponse {
  /// The charset that `Content-Type` names; nil where it is empty.
  package var charset: String? { fields.mediaType?["charset"].flatMap { $0.isEmpty ? nil : $0 } }
}
