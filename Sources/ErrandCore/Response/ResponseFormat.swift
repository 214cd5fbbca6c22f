import ErrandSupport
public import Foundation

/// A format of response bodies. A small type that conforms to this protocol can decode every `Decodable` value.
///
/// ```swift
/// struct Pack: ResponseFormat {
///   let name = "pack"
///   let accept = "application/x-pack"
///   func decode<Value: Decodable>(_ type: Value.Type, from body: Data, of response: HTTPResponse) throws -> Value {
///     try PackDecoder(body).value(as: type)
///   }
/// }
/// var decoder: ResponseDecoder<Order> { .format(Pack()) }
/// ```
///
/// A type may conform to both this protocol and ``BodyFormat``.
public protocol ResponseFormat: Sendable {
  /// The name of the format, which error messages show.
  var name: String { get }
  /// The value of the field `Accept`, unless the request's headers set another value.
  var accept: String { get }
  /// The content types that are accepted if ``ResponseValidation/contentTypes`` is not set, such as `["application/x-pack"]`;
  /// nil accepts all types. A response without a content type is accepted. A pattern with a star, such as `text/*`,
  /// does not match web pages. To accept web pages, list `text/html` and `application/xhtml+xml` by name.
  var contentTypes: [String]? { get }
  /// Decodes a value from a body. For bodies over 16 KiB, this method does not run on the caller's actor.
  ///
  /// An error that the method throws becomes the cause of an ``APIError`` of stage `decode`. The message of the
  /// `APIError` contains the description of the thrown error. So an error that names the place of the fault, such as
  /// ``FormatFailure``, helps most.
  func decode<Value: Decodable>(_ type: Value.Type, from body: Data, of response: HTTPResponse) throws -> Value
}

/// A response format in an object, which calls share instead of copying an existential value.
typealias SharedFormat = Boxed<any ResponseFormat>

extension ResponseFormat {
  /// By default, all content types are accepted.
  public var contentTypes: [String]? { nil }
}

extension APIError {
  /// The response body, such as the reason for a rejection, decoded in the given format. Nil if there is no body, or if
  /// the body cannot be decoded as this type. Each call of this method decodes the body again.
  public func body<Body: Decodable>(as type: Body.Type = Body.self, by format: some ResponseFormat) -> Body? {
    response.flatMap { $0.body.isEmpty ? nil : try? format.decode(type, from: $0.body, of: $0) }
  }
}

extension ResponseDecoder where Value: Decodable {
  /// A decoder that reads the given format.
  public static func format(_ format: some ResponseFormat) -> ResponseDecoder {
    ResponseDecoder(DecoderInput(format.name, accept: format.accept, contentTypes: format.contentTypes)) {
      response, _ in
      try format.decode(Value.self, from: response.body, of: response)
    }
  }
}
