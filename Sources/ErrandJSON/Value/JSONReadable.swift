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
///   array, dictionary or optional that is the whole response.
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
