public import Foundation

/// How typed values become JSON bodies: strategies for dates, keys and data, or an encoder of choice.
///
/// Keys are written in the order of their characters unless an encoder of your own or ``fast`` says otherwise, so that
/// equal values give equal bytes (signatures and cache keys depend on it). One encoder is made per value and shared by
/// all calls from any thread.
public struct JSONEncoding: Sendable {
  private let encoder: JSONEncoder
  private let streams: JSONStreams?

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

  /// Errand's own encoder with Foundation's default strategies: see ``fast(dates:keys:data:sortedKeys:)``.
  public static let fast = fast()

  /// Encoding by Errand's own encoder, which writes the same values as `JSONEncoder` in a fraction of its time.
  ///
  /// It writes each value as it comes, into one text. A type that goes back to an outer container while a deeper one is
  /// still in use, writes a key twice, or keeps a `superEncoder` for later is found out and encoded once more, by
  /// `JSONEncoder`: its `encode(to:)` runs twice then. Where `JSONEncoder` ends the process (a second value in a single
  /// value container, two kinds of container, an error of a member that is caught), it throws or goes on.
  /// - Parameters:
  ///   - dates: How a `Date` is written.
  ///   - keys: How names of members are made of coding keys.
  ///   - data: How `Data` is written.
  ///   - sortedKeys: Whether the members of all types are sorted, too, as ``init(dates:keys:data:)`` has it. Otherwise
  ///     they come in the order in which a type writes them, which is that of their declaration unless its own code
  ///     says otherwise. Dictionaries are sorted always, so that equal values give equal bytes either way.
  public static func fast(
    dates: JSONEncoder.DateEncodingStrategy = .deferredToDate,
    keys: JSONEncoder.KeyEncodingStrategy = .useDefaultKeys,
    data: JSONEncoder.DataEncodingStrategy = .base64,
    sortedKeys: Bool = false
  ) -> JSONEncoding {
    let encoder = JSONEncoder()
    encoder.dateEncodingStrategy = dates
    encoder.keyEncodingStrategy = keys
    encoder.dataEncodingStrategy = data
    encoder.outputFormatting = sortedKeys ? [.sortedKeys, .withoutEscapingSlashes] : [.withoutEscapingSlashes]
    return fast(by: encoder)
  }

  /// Errand's own encoder, set as a `JSONEncoder` is: its strategies, its `userInfo` and its sorting are taken over.
  /// Slashes are never escaped, as nothing needs it.
  /// - Parameter encoder: Must not be changed afterwards. It writes what only it can write; all of it, where it is to make
  ///   texts for people (`.prettyPrinted`).
  public static func fast(by encoder: JSONEncoder) -> JSONEncoding { JSONEncoding(fastBy: encoder) }

  /// Encoding by an encoder of choice. The closure is called once, here; the encoder must not be changed afterwards.
  public init(makeEncoder: () -> JSONEncoder) {
    encoder = makeEncoder()
    streams = nil
  }

  private init(fastBy encoder: JSONEncoder) {
    self.encoder = encoder
    let isPlain = encoder.outputFormatting.isSubset(of: [.sortedKeys, .withoutEscapingSlashes])
    streams = isPlain ? JSONStreams(rules: JSONEncodingRules(of: encoder)) : nil
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
    guard let own = root.objectValue else { throw JSONError.notAnObject(found: root.typeName) }
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
    if let text = try streams?.text(of: value) { return text }
    return try encoder.encode(value)
  }
}
