extension JSONValue: Codable {
  /// Reads any value from a decoder, with up to 160 levels of nesting. `Codable` is recursive, so deeper nesting could
  /// overflow the stack of a worker thread.
  ///
  /// `Codable` does not report the type of the next value, so this initializer tries each type in turn. It never reads
  /// the content of a container twice. Two cases do not use this code: ``JSONDecoding`` reads a whole `JSONValue`
  /// directly from bytes, and ``JSONDecoding/fast`` also reads a `JSONValue` inside other types directly.
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
      throw DecodingError.dataCorruptedError(in: single, debugDescription: "The value has no type that JSON defines.")
    }
  }

  /// The maximum nesting of a value that `Codable` reads. 160 levels need up to 400 KiB of stack, and worker threads on
  /// Apple platforms have 512 KiB.
  private static let codableDepthLimit = 160

  /// Writes the value. The encoder decides how to handle numbers that are not finite.
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

  /// Reads a string, Boolean or number from a container; nil for any other value.
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

/// Decodes, and returns nil after any error, because decoders throw different errors for a type mismatch. This function
/// is used for single values and for opening containers, never for the contents of containers.
private func optionalOnMismatch<Value>(_ decode: () throws -> Value) -> Value? {
  do {
    return try decode()
  } catch {
    return nil
  }
}
