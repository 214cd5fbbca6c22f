public import Foundation

/// A format that answers are read from: one small type, and every `Decodable` value can be taken.
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
/// The same type may be a ``BodyFormat``, too.
public protocol ResponseFormat: Sendable {
  /// The format's name, shown in errors.
  var name: String { get }
  /// What is sent as `Accept` where the request's headers say nothing else.
  var accept: String { get }
  /// Which content types are taken where the request's ``APIRequest/contentTypes`` says nothing, such as
  /// `["application/x-pack"]`; nil for all. An answer that names no type is taken. A pattern with a star takes no page:
  /// `text/html` and `application/xhtml+xml` are listed by their names where they are meant.
  var contentTypes: [String]? { get }
  /// Reads a value. What it throws becomes the cause of an error of stage `decode`, which shows the description; an
  /// error that names the place, such as ``FormatFailure``, helps most. It runs off the caller's actor for bodies over
  /// 16 KiB.
  func decode<Value: Decodable>(_ type: Value.Type, from body: Data, of response: HTTPResponse) throws -> Value
}

extension ResponseFormat {
  /// All.
  public var contentTypes: [String]? { nil }
}

extension APIError {
  /// The server's body read in a format of choice, such as why it refused; nil where no body came or it is of another
  /// form. It is read anew each time, where this is called.
  public func body<Body: Decodable>(as type: Body.Type = Body.self, by format: some ResponseFormat) -> Body? {
    response.flatMap { $0.body.isEmpty ? nil : try? format.decode(type, from: $0.body, of: $0) }
  }
}

extension ResponseDecoder where Value: Decodable {
  /// A format of choice.
  public static func format(_ format: some ResponseFormat) -> ResponseDecoder {
    ResponseDecoder(name: format.name, accept: format.accept, contentTypes: format.contentTypes) { response, _ in
      try format.decode(Value.self, from: response.body, of: response)
    }
  }

  /// A property list, binary or in XML; see ``PropertyListFormat``.
  public static func propertyList() -> ResponseDecoder { .format(PropertyListFormat()) }
}
