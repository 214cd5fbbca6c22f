public import Foundation

/// A format that bodies are written in: one small type, and every `Encodable` value can be sent.
///
/// ```swift
/// struct Pack: BodyFormat {
///   let name = "pack"
///   let contentType = "application/x-pack"
///   func encode<Value: Encodable>(_ value: Value) throws -> Data { try PackEncoder().encode(value) }
/// }
/// var body: RequestBody? { .encoded(order, as: Pack()) }
/// ```
///
/// The same type may be a ``ResponseFormat``, too.
public protocol BodyFormat: Sendable {
  /// The format's name, shown in errors.
  var name: String { get }
  /// The media type, sent as `Content-Type` where the request's headers say nothing else.
  var contentType: String { get }
  /// Writes a value. Called once a call, before anything is sent; what it throws becomes the cause of an error of stage
  /// `build` with the code ``APIError/Code/invalidBody``.
  func encode<Value: Encodable>(_ value: Value) throws -> Data
}

extension RequestBody {
  /// Any `Encodable` value in a format of choice.
  ///
  /// The client's common body arguments are not added: only forms and JSON objects take them.
  public static func encoded<Value: Encodable & Sendable>(
    _ value: Value, as format: some BodyFormat
  ) -> RequestBody {
    encoded(as: format.name, format.contentType) { try format.encode(value) }
  }

  /// Any `Encodable` value as a property list in XML, `application/x-plist`; see ``PropertyListFormat``.
  public static func propertyList(_ value: some Encodable & Sendable) -> RequestBody {
    encoded(value, as: PropertyListFormat())
  }
}
