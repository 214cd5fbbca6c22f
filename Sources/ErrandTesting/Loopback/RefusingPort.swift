/// A port of the local machine that refuses every connection as long as this object exists.
///
/// The port is bound, but no socket listens on it. No other process can bind the port, so a test reliably gets
/// "connection refused".
///
/// ```swift
/// let port = try RefusingPort()
/// let url = port.url + "/user"      // connecting fails at once
/// ```
public final class RefusingPort: Sendable {
  private let listener: LoopbackListener

  /// Binds a free port, which then refuses all connections.
  ///
  /// - Throws: ``LoopbackError/system(call:code:)``.
  public init(address: LoopbackOptions.Address = .ipv4) throws {
    listener = try LoopbackListener(address, listens: false)
  }

  /// The number of the port, which the system chose.
  public var port: Int { listener.port }

  /// The address as a URL without a path, such as `http://127.0.0.1:41234`.
  public var url: String { "http://\(listener.host):\(listener.port)" }
}
