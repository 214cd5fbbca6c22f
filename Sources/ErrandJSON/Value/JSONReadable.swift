/// A type that makes itself of a JSON value, in three fifths of the time that ``JSONDecoding/fast`` takes.
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
/// It can stand wherever a `Decodable` type can, and holds others of both kinds. As a whole, in a list, a dictionary or an
/// optional it is read by Errand's own parser, whatever ``JSONDecoding`` is chosen, and ``JSONDecoding/fast`` reads it so
/// inside other types, too. Every other decoder shows it its value piece by piece, slowly, and with keys as that decoder
/// turns them. The strategies for dates and data of a `JSONDecoder` reach inside where ``JSONDecoding`` made it of them.
public protocol JSONReadable: Decodable, SendableMetatype {
  /// Makes the value. Keys are those of the text; inside another type that a `JSONDecoder` reads, its strategy has turned
  /// them.
  /// - Throws: What `JSONValue.read` throws, or an error of its own; a call tells it with the place in the document.
  init(json: JSONValue) throws
}

extension JSONReadable {
  /// Makes the value of what a decoder shows.
  public init(from decoder: any Decoder) throws { try self.init(json: JSONValue.shown(by: decoder)) }
}

extension JSONValue {
  /// What a decoder shows, in a text that knows the way to it and how the decoder reads values, where that is known.
  fileprivate static func shown(by decoder: any Decoder) throws -> JSONValue {
    let value = try JSONValue(from: decoder)
    guard case .made = value.form, let document = try? JSONDocument(value.serialized()) else { return value }
    let rules = TapeRules.inUserInfo.flatMap { decoder.userInfo[$0] as? TapeRules }
    let source = TapeSource(document, rules: rules ?? .standard, below: decoder.codingPath)
    return JSONValue(.written(TapeDecoder(source: source, index: 0)))
  }
}

extension JSONValue: JSONReadable {
  /// The value itself.
  public init(json: JSONValue) { self = json }
}

extension Optional: JSONReadable where Wrapped: JSONReadable {
  /// Nil for null.
  public init(json: JSONValue) throws { self = json.isNull ? nil : try Wrapped(json: json) }
}

extension Array: JSONReadable where Element: JSONReadable {
  /// The elements, made one by one.
  public init(json: JSONValue) throws { self = try json.read() }
}

extension Dictionary: JSONReadable where Key == String, Value: JSONReadable {
  /// The members, made one by one.
  public init(json: JSONValue) throws { self = try json.read() }
}
