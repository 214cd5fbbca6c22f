import ErrandCore
import ErrandSupport

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A socket that is bound to a free port of the local machine. The socket is closed when this object is deallocated.
final class LoopbackListener: Sendable {
  let descriptor: Int32
  let port: Int
  let host: String
  private let isClosed = Locked(false)

  /// Binds a free port. If `listens` is true, clients can connect. If it is false, the port refuses every connection.
  init(_ address: LoopbackOptions.Address, listens: Bool = true) throws {
    let family = address == .ipv4 ? AF_INET : AF_INET6
    let descriptor = socket(family, streamSocketType, 0)
    guard descriptor >= 0 else { throw LoopbackError.system(call: "socket", code: errno) }
    self.descriptor = descriptor
    host = address == .ipv4 ? "127.0.0.1" : "[::1]"
    do {
      _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
      _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
      port = try address == .ipv4 ? Self.bindIPv4(descriptor) : Self.bindIPv6(descriptor)
      if listens, listen(descriptor, 1024) != 0 { throw LoopbackError.system(call: "listen", code: errno) }
    } catch {
      closeDescriptor(descriptor)
      throw error
    }
  }

  deinit { close() }

  /// Closes the socket. Later calls have no effect. While a thread accepts connections, only that thread may call this
  /// function, because a socket must not be closed during a system call of another thread.
  func close() {
    if isClosed.setOnce() { closeDescriptor(descriptor) }
  }

  /// Accepts a waiting connection and returns its file descriptor; nil if no connection is waiting or the system cannot
  /// accept it.
  func acceptOne() -> Int32? {
    let accepted = accept(descriptor, nil, nil)
    return accepted >= 0 ? accepted : nil
  }

  private static func bindIPv4(_ descriptor: Int32) throws -> Int {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    try bindAndName(descriptor, &address)
    return Int(UInt16(bigEndian: address.sin_port))
  }

  private static func bindIPv6(_ descriptor: Int32) throws -> Int {
    var address = sockaddr_in6()
    address.sin6_family = sa_family_t(AF_INET6)
    address.sin6_addr = in6addr_loopback
    try bindAndName(descriptor, &address)
    return Int(UInt16(bigEndian: address.sin6_port))
  }

  /// Binds the socket to an address. Afterwards, `address` contains the port that the system chose.
  private static func bindAndName<Address>(_ descriptor: Int32, _ address: inout Address) throws {
    var size = socklen_t(MemoryLayout<Address>.size)
    try withUnsafeMutablePointer(to: &address) { pointer in
      try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { name in
        guard bind(descriptor, name, size) == 0 else { throw LoopbackError.system(call: "bind", code: errno) }
        guard getsockname(descriptor, name, &size) == 0 else {
          throw LoopbackError.system(call: "getsockname", code: errno)
        }
      }
    }
  }
}

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
