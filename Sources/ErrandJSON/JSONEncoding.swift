import ErrandSupport
public import Foundation

/// How typed values become JSON bodies: strategies for dates, keys and data, or an encoder of your choice.
///
/// By default, members are sorted by their keys, so that equal values give equal bytes. Signatures and cache keys
/// depend on equal bytes. With `sortedKeys: false`, ``fast(dates:keys:data:sortedKeys:)`` writes members in the order
/// of the type, and an encoder of your own may write them in any order. Each `JSONEncoding` makes one encoder, which
/// all calls on all threads share.
public struct JSONEncoding: Sendable {
  private let encoder: JSONEncoder
  private let streams: JSONStreams?
  /// Whether this value is a placeholder. It is then replaced by the rules of the request's family (a group of requests
  /// of one API) or of the client.
  package private(set) var isInherited = false

  /// The encoding rules that the request's family (a group of requests of one API) or the client declares.
  public static let inherited = {
    var encoding = JSONEncoding.fast
    encoding.isInherited = true
    return encoding
  }()

  /// The rules to use: `other` if this value is ``inherited``, otherwise this value.
  package func filled(by other: JSONEncoding?) -> JSONEncoding { isInherited ? other ?? self : self }

  /// Encoding by Foundation's `JSONEncoder` with its default strategies: dates as seconds since 2001, data in Base64.
  /// Members are sorted, and slashes are not escaped.
  public static let standard = JSONEncoding()

  /// Encoding by a `JSONEncoder` with the given strategies. A date that the strategy `.iso8601` cannot represent is an
  /// error; at such a date `JSONEncoder` ends the process or writes another date.
  public init(
    dates: JSONEncoder.DateEncodingStrategy = .deferredToDate,
    keys: JSONEncoder.KeyEncodingStrategy = .useDefaultKeys,
    data: JSONEncoder.DataEncodingStrategy = .base64
  ) {
    self.init {
      let encoder = JSONEncoder()
      encoder.dateEncodingStrategy = dates.guarded
      encoder.keyEncodingStrategy = keys
      encoder.dataEncodingStrategy = data
      encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
      return encoder
    }
  }

  /// Errand's own encoder with Foundation's default strategies; see ``fast(dates:keys:data:sortedKeys:)``.
  public static let fast = fast()

  /// Encoding by Errand's own encoder, which writes the same values as `JSONEncoder` in a fraction of its time.
  ///
  /// The encoder appends each value to one text immediately. So it cannot write a type that
  /// - returns to an outer container while a deeper container is in use,
  /// - writes a key twice, or
  /// - keeps a `superEncoder` for later.
  ///
  /// `JSONEncoder` then encodes the value again, so the type's `encode(to:)` runs twice. All its members are sorted,
  /// because `JSONEncoder` knows no other fixed order.
  ///
  /// `JSONEncoder` ends the process if a type writes a second value to a single value container, requests two kinds of
  /// container, or catches the error of a member, and at an infinite date with the strategy `.iso8601`. In these cases,
  /// Errand's encoder throws an error or continues.
  ///
  /// If `sortedKeys` is false, members have the order in which the type writes them: the order of declaration, unless
  /// the type has its own `encode(to:)`. Dictionaries are sorted nevertheless. A type that itself writes the members of
  /// a dictionary or a set then gives other bytes in each run of the program.
  /// - Parameters:
  ///   - dates: How a `Date` is written.
  ///   - keys: How the names of members are derived from coding keys.
  ///   - data: How `Data` is written.
  ///   - sortedKeys: Whether the members of all types are sorted, as with ``init(dates:keys:data:)``. True by default.
  public static func fast(
    dates: JSONEncoder.DateEncodingStrategy = .deferredToDate,
    keys: JSONEncoder.KeyEncodingStrategy = .useDefaultKeys,
    data: JSONEncoder.DataEncodingStrategy = .base64,
    sortedKeys: Bool = true
  ) -> JSONEncoding {
    let encoder = JSONEncoder()
    encoder.dateEncodingStrategy = dates
    encoder.keyEncodingStrategy = keys
    encoder.dataEncodingStrategy = data
    return JSONEncoding(fastBy: encoder, sortsAll: sortedKeys)
  }

  /// Errand's own encoder with the strategies, the `userInfo` and the key order of a `JSONEncoder`. Slashes are never
  /// escaped, because JSON does not require escaped slashes.
  ///
  /// A copy of the encoder that sorts all members writes the values that only `JSONEncoder` can write. If the output
  /// format of the given encoder is `.prettyPrinted`, the given encoder itself writes all values.
  /// - Parameter encoder: The encoder to copy. Do not change it afterwards.
  public static func fast(by encoder: JSONEncoder) -> JSONEncoding {
    JSONEncoding(fastBy: encoder, sortsAll: encoder.outputFormatting.contains(.sortedKeys))
  }

  /// Encoding by an encoder of your choice. The initializer calls the closure once; the encoder must not be changed
  /// afterwards.
  public init(makeEncoder: () -> JSONEncoder) {
    encoder = Self.guarded(makeEncoder())
    streams = nil
  }

  private init(fastBy encoder: JSONEncoder, sortsAll: Bool) {
    let isPlain = encoder.outputFormatting.isSubset(of: [.sortedKeys, .withoutEscapingSlashes])
    self.encoder =
      isPlain ? Self.copy(of: encoder, [.sortedKeys, .withoutEscapingSlashes]) : Self.guarded(encoder)
    streams = isPlain ? JSONStreams(rules: JSONEncodingRules(of: encoder, sortsAll: sortsAll)) : nil
  }

  /// The encoder itself, or a copy that reports dates at which the encoder would end the process. A subclass is not
  /// copied, because a copy would not have its code.
  private static func guarded(_ encoder: JSONEncoder) -> JSONEncoder {
    guard case .iso8601 = encoder.dateEncodingStrategy, type(of: encoder) == JSONEncoder.self else { return encoder }
    return copy(of: encoder, encoder.outputFormatting)
  }

  /// A copy of an encoder with another output format. Without `.sortedKeys`, `JSONEncoder` writes members in the order
  /// of their hashes, which differs between two runs of the program.
  private static func copy(of encoder: JSONEncoder, _ format: JSONEncoder.OutputFormatting) -> JSONEncoder {
    let copy = JSONEncoder()
    copy.dateEncodingStrategy = encoder.dateEncodingStrategy.guarded
    copy.dataEncodingStrategy = encoder.dataEncodingStrategy
    copy.keyEncodingStrategy = encoder.keyEncodingStrategy
    copy.nonConformingFloatEncodingStrategy = encoder.nonConformingFloatEncodingStrategy
    copy.userInfo = encoder.userInfo
    copy.outputFormatting = format
    return copy
  }

  /// The JSON text of a value, in UTF-8. The strategies do not apply to a `JSONValue`.
  ///
  /// If the value already has a key of `common`, the value's own member is kept. If `common` is not empty, the value
  /// must encode as an object.
  /// - Parameters:
  ///   - value: The value to write.
  ///   - common: Members to add to the top-level object.
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
      let reason = "the type's own code threw \(AppErrorText.of(error))"
      throw JSONEncodingError(path: .root, reason: reason, underlying: error)
    }
  }

  /// Adds common members to a JSON text that is an object. If the object already has a key with the same bytes, the
  /// object's member is kept.
  ///
  /// The added members precede the object's own text. The object's text is copied byte for byte, so that no number
  /// loses a digit. The result is UTF-8.
  /// - Throws: ``JSONError`` if the text is not JSON, or not an object.
  package static func merge(_ common: [String: JSONValue], into object: Data) throws(JSONError) -> Data {
    guard !common.isEmpty else { return object }
    let root = try JSONValue(parsing: object)
    guard let own = root.objectValue else { throw JSONError.notAnObject(found: root.typeName) }
    let names = Set(own.keys.map { ByteText($0) })
    let added = common.filter { !names.contains(ByteText($0.key)) }
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

extension JSONEncoding {
  /// Whether a strategy for dates is set: any except `.deferredToDate`, the default of `JSONEncoder`.
  package var hasDateStrategy: Bool {
    if case .deferredToDate = encoder.dateEncodingStrategy { false } else { true }
  }

  /// Whether the names of members may differ from the coding keys.
  package var convertsKeys: Bool {
    if case .useDefaultKeys = encoder.keyEncodingStrategy { false } else { true }
  }

  /// The name of a member, derived from its coding key by the key strategy.
  /// - Parameter path: The path of the object that has the member, with the coding keys as they are in the type.
  package func name(of key: String, at path: JSONPath) -> String {
    guard case .custom(let convert) = encoder.keyEncodingStrategy else {
      return JSONNames.name(of: key, by: encoder) ?? key
    }
    let steps = path.steps.map { step -> any CodingKey in
      switch step {
      case .key(let name): AnyKey(name)
      case .index(let index): AnyKey(intValue: index)
      }
    }
    return convert(steps + [AnyKey(key)]).stringValue
  }
}

/// A value could not be written as JSON. The error has the path and the reason.
public struct JSONEncodingError: Error, Sendable {
  /// The path of the failure in the JSON text.
  public let path: JSONPath
  /// The reason for the failure, as an English phrase.
  public let reason: String
  /// The encoder's error. It may contain parts of the value, so do not log it.
  public let underlying: any Error

  init(path: JSONPath, reason: String, underlying: any Error) {
    self.path = path
    self.reason = reason
    self.underlying = underlying
  }

  init(_ error: EncodingError) {
    switch error {
    case .invalidValue(_, let context):
      self.init(path: JSONPath(coding: context.codingPath), reason: context.debugDescription, underlying: error)
    @unknown default:
      self.init(path: .root, reason: "the value cannot be written", underlying: error)
    }
  }

  init(_ error: JSONError) {
    if case .notFinite(let path) = error {
      self.init(path: path, reason: "JSON cannot represent an infinite number or NaN", underlying: error)
    } else {
      self.init(path: .root, reason: error.description, underlying: error)
    }
  }
}

extension JSONEncodingError: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// One line: `$.user.height: Unable to encode Double.nan directly in JSON.`
  public var description: String { "\(path): \(reason)" }

  /// The same line as `description`. It omits the underlying error, so that dumps do not show the underlying error.
  public var debugDescription: String { description }

  /// All properties except the underlying error, for dumps.
  public var customMirror: Mirror {
    Mirror(self, children: ["path": path, "reason": reason], displayStyle: .struct)
  }
}
