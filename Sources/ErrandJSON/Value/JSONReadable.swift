import Foundation

/// A type that creates itself from a JSON value. Reading takes three fifths of the time of ``JSONDecoding/fast``.
///
/// ```swift
/// struct Person: JSONReadable {
///   let name: String
///   let age: Int?
///
///   init(json: JSONValue) throws {
///     name = try json.read("name")
///     age = try json.readIfPresent("age")
///   }
/// }
/// ```
///
/// A `JSONReadable` type can be used wherever a `Decodable` type can, and its properties can have types of both kinds.
///
/// - With every ``JSONDecoding``, Errand's own parser reads a `JSONReadable` type if it is the whole response, or in an
///   array, dictionary or optional that is the whole response. The exception is a `JSONDecoder` that allows JSON5 or
///   objects without braces: it reads such a response itself.
/// - With ``JSONDecoding/fast``, Errand's own parser also reads a `JSONReadable` type inside other types.
/// - Every other decoder reads the value one member at a time, which is slow. The keys are then the keys after the
///   conversion by the decoder's key strategy.
///
/// A `JSONDecoder` passes its strategies for dates and data to the type if a ``JSONDecoding`` made the decoder from
/// these strategies.
public protocol JSONReadable: Decodable, SendableMetatype {
  /// Creates the value. The keys of `json` are the keys of the text. If a `JSONDecoder` reads the type inside another
  /// type, they are the keys after the conversion by the decoder's key strategy.
  /// - Throws: The errors of `JSONValue.read`, or an error of the type itself. A call reports the error with its path
  ///   in the document.
  init(json: JSONValue) throws
}

extension JSONReadable {
  /// Creates the value from any decoder.
  public init(from decoder: any Decoder) throws { try self.init(json: JSONValue.shown(by: decoder)) }
}

extension JSONValue {
  /// The JSON value that a decoder reads, as a new document. The document has the decoder's coding path, so that errors
  /// report the path in the original text. The document also has the decoder's strategies if the strategies are known.
  fileprivate static func shown(by decoder: any Decoder) throws -> JSONValue {
    let value = try JSONValue(from: decoder)
    guard case .made = value.form, let document = try? JSONDocument(value.serialized()) else { return value }
    let rules = TapeRules.inUserInfo.flatMap { decoder.userInfo[$0] as? TapeRules }
    let source = TapeSource(document, rules: rules ?? .standard, below: decoder.codingPath)
    return JSONValue(.written(TapeDecoder(source: source, index: 0)))
  }
}

extension JSONValue: JSONReadable {
  /// Creates a copy of `json`.
  public init(json: JSONValue) { self = json }
}

extension Optional: JSONReadable where Wrapped: JSONReadable {
  /// Reads null as nil, and every other value as the wrapped type.
  public init(json: JSONValue) throws { self = json.isNull ? nil : try Wrapped(json: json) }
}

extension Array: JSONReadable where Element: JSONReadable {
  /// Reads the elements one by one.
  public init(json: JSONValue) throws { self = try json.read() }
}

extension Dictionary: JSONReadable where Key == String, Value: JSONReadable {
  /// Reads the members one by one.
  public init(json: JSONValue) throws { self = try json.read() }
}

/// Reads Swift types from a JSON value. The value keeps the strategies of the decoding that created it. A value that
/// was parsed or created directly has Foundation's default strategies.
extension JSONValue {
  /// Reads this value as a type.
  /// - Throws: `DecodingError` with the coding path from the root of the text, or an error of the type's own code.
  public func read<T: Decodable>(as type: T.Type = T.self) throws -> T {
    let place = try place()
    return try place.source.value(type, at: place.index)
  }

  /// Reads the value of a key as a type. A missing key is an error even if the type is optional; see
  /// ``readIfPresent(_:as:)``.
  /// - Throws: The errors of ``read(as:)``; `keyNotFound` if the key is missing; `typeMismatch` if this value is not an
  ///   object.
  public func read<T: Decodable>(_ key: String, as type: T.Type = T.self) throws -> T {
    if case .written(let place) = form {
      return try place.source.value(type, at: place.source.index(ofMember: key, in: place.index))
    }
    if let member = try madeMember(key) { return try member.read() }
    throw DecodingError.missing(key, at: [])
  }

  /// Reads the value of a key as a string.
  /// - Throws: The errors of ``read(_:as:)``.
  public func read(_ key: String) throws -> String {
    if let value = try inText({ try $0.string(at: $0.index(ofMember: key, in: $1)) }) { return value }
    return try read(key, as: String.self)
  }

  /// Reads the value of a key as an integer.
  /// - Throws: The errors of ``read(_:as:)``.
  public func read(_ key: String) throws -> Int {
    if let value = try inText({ try $0.integer(Int.self, at: $0.index(ofMember: key, in: $1)) }) { return value }
    return try read(key, as: Int.self)
  }

  /// Reads the value of a key as a number.
  /// - Throws: The errors of ``read(_:as:)``.
  public func read(_ key: String) throws -> Double {
    if let value = try inText({ try $0.double(at: $0.index(ofMember: key, in: $1)) }) { return value }
    return try read(key, as: Double.self)
  }

  /// Reads the value of a key as a Boolean.
  /// - Throws: The errors of ``read(_:as:)``.
  public func read(_ key: String) throws -> Bool {
    if let value = try inText({ try $0.bool(at: $0.index(ofMember: key, in: $1)) }) { return value }
    return try read(key, as: Bool.self)
  }

  /// Reads the value of a key as a type; nil if the key is missing or its value is null.
  /// - Throws: The errors of ``read(_:as:)``, except for a missing key.
  public func readIfPresent<T: Decodable>(_ key: String, as type: T.Type = T.self) throws -> T? {
    guard case .written(let place) = form else {
      guard let member = try madeMember(key), !member.isNull else { return nil }
      return try member.read()
    }
    guard let index = try place.memberIndex(key), !place.source.isNull(at: index) else { return nil }
    return try place.source.value(type, at: index)
  }

  // MARK: - Places

  /// Calls `ask` with the source of this value (the parsed document and its decoding rules) and the value's index.
  /// Returns nil if this value is not part of a parsed text.
  ///
  /// The source is not retained during the call, because this value keeps the source alive. In measurements, retaining
  /// the source took longer than most reads.
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

  /// The value of a key in an object that was created in memory instead of parsed.
  private func madeMember(_ key: String) throws -> JSONValue? {
    guard let members = objectValue else { throw try place().noObject }
    return members[key]
  }
}

extension TapeDecoder {
  fileprivate var noObject: DecodingError { source.mismatch([String: Any].self, at: index) }

  /// The index of the value of a key in the parsed document; nil if the key is missing. Throws if this value is not an
  /// object.
  fileprivate func memberIndex(_ key: String) throws -> Int? {
    if let index = source.document.index(ofMember: key, in: index) { return index }
    guard source.document.word(index).isObject else { throw noObject }
    return nil
  }
}

extension TapeSource {
  /// The index of the value of a key in the parsed document. Throws if the key is missing.
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
  /// Encodes a Swift value and returns the result as a JSON value.
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
