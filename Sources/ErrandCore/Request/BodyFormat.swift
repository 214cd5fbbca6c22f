public import Foundation

/// A format of request bodies. A small type that conforms to this protocol can encode every `Encodable` value.
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
/// One type may conform to both this protocol and ``ResponseFormat``.
public protocol BodyFormat: Sendable {
  /// The name of the format, which error messages show.
  var name: String { get }
  /// The media type, which is sent as `Content-Type` unless the request's headers set another value.
  var contentType: String { get }
  /// Encodes a value. The function is called once per call, before anything is sent. An error that the function throws
  /// becomes the cause of an error of stage `build` with the code ``APIError/Code/invalidBody``.
  func encode<Value: Encodable>(_ value: Value) throws -> Data
}

extension RequestBody {
  /// A body that contains any `Encodable` value in the given format.
  ///
  /// The client's common body arguments are not added, because only forms and JSON objects can contain named arguments.
  public static func encoded<Value: Encodable & Sendable>(
    _ value: Value, as format: some BodyFormat
  ) -> RequestBody {
    encoded(as: format.name, format.contentType) { try format.encode(value) }
  }
}
