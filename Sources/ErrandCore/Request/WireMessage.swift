public import Foundation

/// A message that can be decoded from bytes and encoded into bytes, such as a Protocol Buffers message.
///
/// Generated messages conform in a few lines:
///
/// ```swift
/// extension User: WireMessage {
///   init(wire bytes: Data) throws { try self.init(serializedBytes: bytes) }
///   func wire() throws -> Data { try serializedBytes() }
/// }
/// ```
public protocol WireMessage: Sendable {
  /// Decodes a message. An error that this function throws becomes the cause of an error of stage `decode`.
  init(wire bytes: Data) throws
  /// Encodes the message. An error that this function throws becomes the cause of an error of stage `build` with the
  /// code ``APIError/Code/invalidBody``.
  func wire() throws -> Data
}

extension RequestBody {
  /// A message of Protocol Buffers.
  public static func protobuf(
    _ message: some WireMessage, type contentType: String = "application/x-protobuf"
  ) -> RequestBody {
    encoded(as: "protobuf", contentType) { try message.wire() }
  }
}

extension ResponseDecoder where Value: WireMessage {
  /// A message of Protocol Buffers.
  ///
  /// - Parameter accept: The value of the field `Accept`, unless the request's headers set another one.
  public static func protobuf(accept: String = "application/x-protobuf") -> ResponseDecoder {
    ResponseDecoder("protobuf", accept: accept) { body, _ in try Value(wire: body) }
  }
}

extension APIError {
  /// The body of a rejected response, decoded as a message that contains, for example, an error code and a text. Nil if
  /// there is no body, or if the body cannot be decoded as this type. Also nil if the response was accepted but could
  /// not be decoded: most bytes of one message type can also be decoded as another type.
  public func body<Message: WireMessage>(asMessage type: Message.Type = Message.self) -> Message? {
    guard stage == .validate else { return nil }
    return response.flatMap { $0.body.isEmpty ? nil : try? Message(wire: $0.body) }
  }
}
