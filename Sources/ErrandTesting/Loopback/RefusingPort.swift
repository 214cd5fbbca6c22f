/// A port of this machine that refuses every connection, for as long as this object lives.
///
/// The port is bound and does not listen: nobody else can get it meanwhile, so a test that needs "connection
/// refused" does not depend on luck.
///
/// ```swift
/// let nobody = try RefusingPort()
/// let url = nobody.url + "/user"      // connecting fails at once
/// ```
public final class RefusingPort: Sendable {
  private let listener: LoopbackListener

  /// Binds a free port.
  ///
  /// - Throws: ``LoopbackError/system(call:code:)``.
  public init(address: LoopbackOptions.Address = .ipv4) throws {
    listener = try LoopbackListener(address, listens: false)
  }

  /// The port's number.
  public var port: Int { listener.port }

  /// The address as a URL without a path, such as `http://127.0.0.1:41234`.
  public var url: String { "http://\(listener.host):\(listener.port)" }
}
