/// How a ``LoopbackServer`` listens and reads. A value; every part has a default.
public struct LoopbackOptions: Sendable {
  /// The address to listen on; only this machine can reach it.
  public enum Address: Sendable {
    /// 127.0.0.1.
    case ipv4
    /// ::1.
    case ipv6
  }

  /// The address to listen on.
  public var address: Address = .ipv4
  /// When to read the body of a request that no enqueued answer is meant for; the request given is without body.
  public var reception: @Sendable (RecordedRequest) -> LoopbackReception = { _ in .automatic }
  /// What to do as soon as a connection is accepted, before a byte is read; given the connection's number, from 1.
  ///
  /// `{ _ in .closeBeforeAnswer }` closes at once, `{ $0 == 1 ? .resetBeforeAnswer : nil }` resets only the first.
  /// It runs on the thread of its connection.
  public var greeting: @Sendable (Int) -> LoopbackAnswer? = { _ in nil }
  /// A gate in front of accepting: until it lets pass, clients connect and hear nothing.
  public var acceptGate: Gate?
  /// How many bytes of a request body are kept; the rest is counted and dropped.
  public var recordedBodyLimit = 16 << 20
  /// How many bytes the system may hold for a client that has not taken them yet, or nil for what it thinks best. It
  /// may double the number. Small ones make what was sent differ little from what has arrived.
  package var sendBuffer: Int?
  /// How many bytes request line and header fields may have before they are refused.
  public var headLimit = 1 << 20

  /// Makes options with every part at its default.
  public init() {}

  /// Makes options that listen on the given address.
  public init(address: Address) {
    self.address = address
  }
}
