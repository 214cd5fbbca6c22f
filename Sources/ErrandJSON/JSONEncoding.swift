public import Foundation

/// How typed values become JSON bodies: strategies for dates, keys and data, or an encoder of choice.
///
/// Keys are written in the order of their characters unless an encoder of your own says otherwise, so that equal values
/// give equal bytes (signatures and cache keys depend on it). One encoder is made per value and shared by all calls from
/// any thread.
public struct JSONEncoding: Sendable {
  private let encoder: JSONEncoder

  /// Foundation's defaults, keys sorted, slashes not escaped: dates as seconds since 2001, data in Base64.
  public static let standard = JSONEncoding()

  /// Encoding by Foundation's strategies.
  public init(
    dates: JSONEncoder.DateEncodingStrategy = .deferredToDate,
    keys: JSONEncoder.KeyEncodingStrategy = .useDefaultKeys,
    data: JSONEncoder.DataEncodingStrategy = .base64
  ) {
    self.init {
      let encoder = JSONEncoder()
      encoder.dateEncodingStrategy = dates
      encoder.keyEncodingStrategy = keys
      encoder.dataEncodingStrategy = data
      encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
      return encoder
    }
  }

  /// Encoding by an encoder of choice. The closure is called once, here; the encoder must not be changed afterwards.
  public init(makeEncoder: () -> JSONEncoder) {
    encoder = makeEncoder()
  }

  /// The JSON text of a value, in UTF-8.
  /// - Parameters:
  ///   - value: What to write. A `JSONValue` is written by its own rules, not by the strategies.
  ///   - common: Arguments that every body gets at its top level, where the value has no such key itself. Unless there
  ///     are none, the value must be written as an object.
  /// - Throws: ``JSONEncodingError``.
  public func encode(
    _ value: some Encodable, adding common: [String: JSONValue] = [:]
  ) throws(JSONEncodingError) -> Data {
    do {
      return try Self.merge(common, into: try bytes(of: value))
    } catch let error as EncodingError {
      throw JSONEncodingError(error)
    } catch let error as JSONError {
      throw JSONEncodingError(error)
    } catch {
      throw JSONEncodingError(path: .root, reason: "the type's own code threw \(error)", underlying: error)
    }
  }

  /// Adds common arguments to a JSON text that is an object: each key that the object has itself stays as it is.
  ///
  /// The object's own text is kept byte for byte, so no number loses a digit; the added keys stand before it. The result is UTF-8.
  /// - Throws: ``JSONError``: the text is not JSON, or no object.
  public static func merge(_ common: [String: JSONValue], into object: Data) throws(JSONError) -> Data {
    guard !common.isEmpty else { return object }
    let root = try JSONValue(parsing: object)
    guard case .object(let own) = root else { throw JSONError.notAnObject(found: root.typeName) }
    let added = common.filter { own[$0.key] == nil }
    guard !added.isEmpty else { return object }
    let text = try JSONText.utf8(of: object)
    guard !own.isEmpty, let brace = text.firstIndex(of: UInt8(ascii: "{")) else {
      return try JSONValue.object(added).serialized()
    }
    var merged = try JSONValue.object(added).serialized().dropLast()
    merged.append(UInt8(ascii: ","))
    merged.append(text[text.index(after: brace)...])
    return merged
  }

  private func bytes(of value: some Encodable) throws -> Data {
    if let value = value as? JSONValue { return try value.serialized() }
    return try encoder.encode(value)
  }
}
