import Foundation

/// A socket that listens on the loopback interface, at a port that the system chooses.
struct ListeningSocket: Sendable {
  let port: Int
  let descriptor: Int32

  init?() {
    #if canImport(Darwin)
      let descriptor = socket(AF_INET, SOCK_STREAM, 0)
    #else
      let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    #endif
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, length) == 0 && listen(descriptor, 64) == 0 && getsockname(descriptor, $0, &length) == 0
      }
    }
    guard isBound else { return nil }
    self.descriptor = descriptor
    port = Int(UInt16(bigEndian: address.sin_port))
  }

  /// Accepts connections on a new thread, and closes each one when `answer` returns. After ``stop()``, the thread
  /// closes the socket: if another thread closed it, this one could accept on another socket with the same number.
  func serve(_ answer: @escaping @Sendable (Int32) -> Void) {
    Thread.detachNewThread { [descriptor] in
      while true {
        let connection = accept(descriptor, nil, nil)
        guard connection >= 0 else {
          // `stop` has shut the socket down.
          if errno == EINVAL { break } else { continue }
        }
        answer(connection)
        close(connection)
      }
      close(descriptor)
    }
  }

  func stop() { shutdown(descriptor, Int32(SHUT_RDWR)) }

  #if canImport(Darwin)
    /// The flags of `send` for a connection that the client may have closed.
    static let noSignal: Int32 = 0
  #else
    /// The flags of `send` for a connection that the client may have closed.
    static let noSignal = Int32(MSG_NOSIGNAL)
  #endif
}
