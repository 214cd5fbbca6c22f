public import Foundation

/// A message that can be encoded as bytes and decoded from bytes, such as a Protocol Buffers message.
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
  /// A body that contains a Protocol Buffers message.
  public static func protobuf(
    _ message: some WireMessage, type contentType: String = "application/x-protobuf"
  ) -> RequestBody {
    encoded(as: "protobuf", contentType) { try message.wire() }
  }
}

extension ResponseDecoder where Value: WireMessage {
  /// Decodes the body of a response as a Protocol Buffers message.
  ///
  /// - Parameter accept: The value of the field `Accept`, unless the request's headers set another value.
  public static func protobuf(accept: String = "application/x-protobuf") -> ResponseDecoder {
    ResponseDecoder("protobuf", accept: accept) { body, _ in try Value(wire: body) }
  }
}

extension APIError {
  /// The body of a rejected response, decoded as a message that contains, for example, an error code and a text. Nil if
  /// there is no body, or if the body cannot be decoded as this type.
  ///
  /// Also nil if the response was accepted but its value could not be decoded. The body of an accepted response
  /// contains no error message, but its bytes can often be decoded as any message type without an error.
  public func body<Message: WireMessage>(asMessage type: Message.Type = Message.self) -> Message? {
    guard stage == .validate else { return nil }
    return response.flatMap { $0.body.isEmpty ? nil : try? Message(wire: $0.body) }
  }
}
