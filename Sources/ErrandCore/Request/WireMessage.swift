public import Foundation

/// A message that can be made from and turned into bytes, such as one of Protocol Buffers.
///
/// Messages that a generator made conform in a few lines:
///
/// ```swift
/// extension User: WireMessage {
///   init(wire bytes: Data) throws { try self.init(serializedBytes: bytes) }
///   func wire() throws -> Data { try serializedBytes() }
/// }
/// ```
public protocol WireMessage: Sendable {
  /// Reads a message. What it throws becomes the cause of an error of stage `decode`.
  init(wire bytes: Data) throws
  /// Writes the message. What it throws becomes the cause of an error of stage `build` with the code
  /// ``APIError/Code/invalidBody``.
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
  /// - Parameter accept: What is sent as `Accept` where the request's headers say nothing else.
  public static func protobuf(accept: String = "application/x-protobuf") -> ResponseDecoder {
    ResponseDecoder("protobuf", accept: accept) { body, _ in try Value(wire: body) }
  }
}

extension APIError {
  /// The body of a refused answer as a message, such as the code and the words of a refusal; nil where no body came, it
  /// is of another form, or the answer was not refused but could not be read: most bytes of one message can be read as
  /// another one.
  public func body<Message: WireMessage>(asMessage type: Message.Type = Message.self) -> Message? {
    guard stage == .validate else { return nil }
    return response.flatMap { $0.body.isEmpty ? nil : try? Message(wire: $0.body) }
  }
}
