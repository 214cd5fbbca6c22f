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
/// inside other types, too. Every other decoder shows it its value piece by piece, slowly.
public protocol JSONReadable: Decodable, SendableMetatype {
  /// Makes the value. Keys are those of the text: no strategy has turned them.
  /// - Throws: What `JSONValue.read` throws, or an error of its own; a call tells it with the place in the document.
  init(json: JSONValue) throws
}

extension JSONReadable {
  /// Makes the value of what a decoder shows.
  public init(from decoder: any Decoder) throws { try self.init(json: JSONValue(from: decoder)) }
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
