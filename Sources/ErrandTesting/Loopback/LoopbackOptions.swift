/// Options of a ``LoopbackServer`` for listening and reading. Every option has a default.
public struct LoopbackOptions: Sendable {
  /// The address to listen on. Only programs on this machine can reach the address.
  public enum Address: Sendable {
    /// The IPv4 address 127.0.0.1.
    case ipv4
    /// The IPv6 address ::1.
    case ipv6
  }

  /// The address to listen on.
  public var address: Address = .ipv4
  /// A closure that decides when the server reads the body of a request. The closure receives the request without its
  /// body. For an enqueued response, the closure is not called: the parameter `reception` of
  /// ``LoopbackServer/enqueue(_:reception:)`` decides.
  public var reception: @Sendable (RecordedRequest) -> LoopbackReception = { _ in .automatic }
  /// A closure that returns the response to send when a connection is accepted, before any byte is read; nil to send
  /// nothing. The closure receives the number of the connection, counted from 1.
  ///
  /// `{ _ in .closeBeforeAnswer }` closes every connection immediately. `{ $0 == 1 ? .resetBeforeAnswer : nil }` resets
  /// only the first connection. The closure runs on the thread of the connection.
  public var greeting: @Sendable (Int) -> LoopbackAnswer? = { _ in nil }
  /// A gate at which the server waits before it accepts a connection; nil to accept immediately. Until the gate lets
  /// the server pass, clients can connect, but receive nothing.
  public var acceptGate: Gate?
  /// The maximum number of bytes of a request body to keep. Further bytes are counted and dropped.
  public var recordedBodyLimit = 16 << 20
  /// The size of the system's send buffer in bytes; nil for the system's default. The system may double the value. With
  /// a small buffer, the number of bytes sent is close to the number of bytes received by the client.
  package var sendBuffer: Int?
  /// The maximum size of the request line and the header fields in bytes. Larger requests are rejected with status 400.
  public var headLimit = 1 << 20

  /// Creates options with default values.
  public init() {}

  /// Creates options for the given address.
  public init(address: Address) {
    self.address = address
  }
}
