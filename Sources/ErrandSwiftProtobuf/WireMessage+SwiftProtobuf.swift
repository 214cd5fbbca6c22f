#if SwiftProtobuf
  public import ErrandCore
  public import Foundation
  public import SwiftProtobuf

  /// Implements `WireMessage` for the messages that SwiftProtobuf's generator made. To use a message, declare its
  /// conformance: `extension User: WireMessage {}`.
  extension WireMessage where Self: SwiftProtobuf.Message {
    /// Decodes a message from its bytes.
    /// - Throws: The errors of SwiftProtobuf, such as `BinaryDecodingError`.
    public init(wire bytes: Data) throws { try self.init(serializedBytes: bytes) }

    /// Encodes the message.
    /// - Throws: The errors of SwiftProtobuf, such as `BinaryEncodingError` if a required field is missing.
    public func wire() throws -> Data { try serializedBytes() }
  }
#endif
