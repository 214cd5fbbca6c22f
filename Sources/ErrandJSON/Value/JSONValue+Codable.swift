extension JSONValue: Codable {
  /// Reads any value from a decoder, down to 160 levels of nesting: as `Codable` calls itself level by level, more would
  /// overflow the stack of a small thread.
  ///
  /// `Codable` cannot say what type comes next, so each type is tried in turn at each value, never twice for what lies
  /// below it. ``JSONDecoding`` reads a whole `JSONValue` from bytes without this detour, and ``JSONDecoding/fast`` also one
  /// inside another type.
  public init(from decoder: any Decoder) throws {
    if let place = decoder as? TapeDecoder {
      self = try place.source.value(JSONValue.self, at: place.index)
      return
    }
    let single = try decoder.singleValueContainer()
    if single.decodeNil() {
      self = .null
    } else if let scalar = JSONValue(scalarIn: single) {
      self = scalar
    } else if decoder.codingPath.count > Self.codableDepthLimit {
      throw DecodingError.dataCorruptedError(
        in: single, debugDescription: "The JSON is nested deeper than \(Self.codableDepthLimit) levels.")
    } else if let members = optionalOnMismatch({ try decoder.container(keyedBy: AnyKey.self) }) {
      self = .object(try Self.members(in: members))
    } else if let elements = optionalOnMismatch({ try decoder.unkeyedContainer() }) {
      self = .array(try Self.elements(in: elements))
    } else {
      throw DecodingError.dataCorruptedError(in: single, debugDescription: "The value cannot be held.")
    }
  }

  /// 160 levels need up to 400 KiB of stack; worker threads on Apple platforms have 512 KiB.
  private static let codableDepthLimit = 160

  /// Writes the value; the encoder decides what becomes of numbers that are not finite.
  public func encode(to encoder: any Encoder) throws {
    var single = encoder.singleValueContainer()
    switch content {
    case .null: try single.encodeNil()
    case .bool(let value): try single.encode(value)
    case .integer(let value): try single.encode(value)
    case .unsigned(let value): try single.encode(value)
    case .number(let value): try single.encode(value)
    case .string(let value): try single.encode(value)
    case .array(let value): try single.encode(value)
    case .object(let value): try single.encode(value)
    }
  }

  /// The text, truth value or number in a container; nil if something else lies there.
  private init?(scalarIn single: any SingleValueDecodingContainer) {
    if let value = optionalOnMismatch({ try single.decode(String.self) }) {
      self = .string(value)
    } else if let value = optionalOnMismatch({ try single.decode(Bool.self) }) {
      self = .bool(value)
    } else if let value = optionalOnMismatch({ try single.decode(Int64.self) }) {
      self = .integer(value)
    } else if let value = optionalOnMismatch({ try single.decode(UInt64.self) }) {
      self = .unsigned(value)
    } else if let value = optionalOnMismatch({ try single.decode(Double.self) }) {
      self = .number(value)
    } else {
      return nil
    }
  }

  private static func members(in container: KeyedDecodingContainer<AnyKey>) throws -> [String: JSONValue] {
    var members: [String: JSONValue] = [:]
    for key in container.allKeys {
      members[key.stringValue] = try container.decode(JSONValue.self, forKey: key)
    }
    return members
  }

  private static func elements(in container: any UnkeyedDecodingContainer) throws -> [JSONValue] {
    var container = container
    var elements: [JSONValue] = []
    while !container.isAtEnd { elements.append(try container.decode(JSONValue.self)) }
    return elements
  }
}

/// The result, or nil where something else lies: decoders disagree on the error that tells so. Asked of one value only,
/// never of what lies below it.
private func optionalOnMismatch<Value>(_ decode: () throws -> Value) -> Value? {
  do {
    return try decode()
  } catch {
    return nil
  }
}
