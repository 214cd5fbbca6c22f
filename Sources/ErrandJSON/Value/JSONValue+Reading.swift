import Foundation

/// Swift values made of a JSON value, by the strategies that a value was read with: Foundation's defaults where it was
/// parsed or made by itself.
extension JSONValue {
  /// The value as a type.
  /// - Throws: `DecodingError` with the way to the place, from the root of the text; or what the type's own code throws.
  public func read<T: Decodable>(as type: T.Type = T.self) throws -> T {
    let place = try place()
    return try place.source.value(type, at: place.index)
  }

  /// The value of a key as a type. Of a type that is optional a missing key gives an error; see
  /// ``readIfPresent(_:as:)``.
  /// - Throws: As ``read(as:)``; `keyNotFound` where the key is missing, `typeMismatch` where this is no object.
  public func read<T: Decodable>(_ key: String, as type: T.Type = T.self) throws -> T {
    if case .written(let place) = form {
      return try place.source.value(type, at: place.source.index(ofMember: key, in: place.index))
    }
    if let member = try madeMember(key) { return try member.read() }
    throw DecodingError.missing(key, at: [])
  }

  /// The text of a key.
  /// - Throws: As ``read(_:as:)``.
  public func read(_ key: String) throws -> String {
    if let value = try inText({ try $0.string(at: $0.index(ofMember: key, in: $1)) }) { return value }
    return try read(key, as: String.self)
  }

  /// The whole number of a key.
  /// - Throws: As ``read(_:as:)``.
  public func read(_ key: String) throws -> Int {
    if let value = try inText({ try $0.integer(Int.self, at: $0.index(ofMember: key, in: $1)) }) { return value }
    return try read(key, as: Int.self)
  }

  /// The number of a key.
  /// - Throws: As ``read(_:as:)``.
  public func read(_ key: String) throws -> Double {
    if let value = try inText({ try $0.double(at: $0.index(ofMember: key, in: $1)) }) { return value }
    return try read(key, as: Double.self)
  }

  /// The truth value of a key.
  /// - Throws: As ``read(_:as:)``.
  public func read(_ key: String) throws -> Bool {
    if let value = try inText({ try $0.bool(at: $0.index(ofMember: key, in: $1)) }) { return value }
    return try read(key, as: Bool.self)
  }

  /// The value of a key as a type; nil where the key is missing or its value is null.
  /// - Throws: As ``read(_:as:)``.
  public func readIfPresent<T: Decodable>(_ key: String, as type: T.Type = T.self) throws -> T? {
    guard case .written(let place) = form else {
      guard let member = try madeMember(key), !member.isNull else { return nil }
      return try member.read()
    }
    guard let index = try place.memberIndex(key), !place.source.isNull(at: index) else { return nil }
    return try place.source.value(type, at: index)
  }

  // MARK: - Places

  /// Asks the source at the place where the value lies; nil for one that was made. Nobody counts the source meanwhile,
  /// which the value holds: that took longer than most reading.
  @inline(__always) private func inText<Value>(_ ask: (TapeSource, Int) throws -> Value) rethrows -> Value? {
    guard let (source, index) = uncountedPlace else { return nil }
    return try withExtendedLifetime(self) { try source._withUnsafeGuaranteedRef { try ask($0, index) } }
  }

  @inline(__always) private var uncountedPlace: (source: Unmanaged<TapeSource>, index: Int)? {
    guard case .written(let place) = form else { return nil }
    return (Unmanaged.passUnretained(place.source), place.index)
  }

  private func place() throws -> TapeDecoder {
    do throws(JSONError) {
      return try inText()
    } catch {
      throw DecodingError.dataCorrupted(DecodingError.Context(codingPath: [], debugDescription: "\(error)"))
    }
  }

  /// The value of a key of an object that was made.
  private func madeMember(_ key: String) throws -> JSONValue? {
    guard let members = objectValue else { throw try place().noObject }
    return members[key]
  }
}

extension TapeDecoder {
  fileprivate var noObject: DecodingError { source.mismatch([String: Any].self, at: index) }

  /// Where the value of a key lies; nil where it is missing.
  fileprivate func memberIndex(_ key: String) throws -> Int? {
    if let index = source.document.index(ofMember: key, in: index) { return index }
    guard source.document.word(index).isObject else { throw noObject }
    return nil
  }
}

extension TapeSource {
  /// Where the value of a key lies that has to be there.
  @inline(__always) fileprivate func index(ofMember key: String, in object: Int) throws -> Int {
    if let index = document.index(ofMember: key, in: object) { return index }
    throw missing(key, in: object)
  }

  @inline(never) private func missing(_ key: String, in object: Int) -> DecodingError {
    guard document.word(object).isObject else { return mismatch([String: Any].self, at: object) }
    return .missing(key, at: path(to: object))
  }
}

extension DecodingError {
  fileprivate static func missing(_ key: String, at path: [any CodingKey]) -> DecodingError {
    let reason = "No value associated with key \"\(key)\"."
    return .keyNotFound(AnyKey(key), Context(codingPath: path, debugDescription: reason))
  }
}

extension JSONValue {
  /// The JSON value that a Swift value is written as.
  /// - Throws: ``JSONEncodingError``.
  public init(encoding value: some Encodable, by encoding: JSONEncoding = .fast) throws(JSONEncodingError) {
    let text = try encoding.encode(value)
    do throws(JSONError) {
      try self.init(parsing: text)
    } catch {
      throw JSONEncodingError(error)
    }
  }
}
