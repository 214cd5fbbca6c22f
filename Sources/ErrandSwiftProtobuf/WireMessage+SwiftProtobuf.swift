#if SwiftProtobuf
  public import ErrandCore
  public import Foundation
  public import SwiftProtobuf

  /// Messages that SwiftProtobuf's generator made: `extension User: WireMessage {}` is all that they need.
  extension WireMessage where Self: SwiftProtobuf.Message {
    /// Reads a message from its bytes.
    /// - Throws: What SwiftProtobuf throws, such as `BinaryDecodingError`.
    public init(wire bytes: Data) throws { try self.init(serializedBytes: bytes) }

    /// Writes the message.
    /// - Throws: What SwiftProtobuf throws, such as `BinaryEncodingError` where a required field is missing.
    public func wire() throws -> Data { try serializedBytes() }
  }
#endif
