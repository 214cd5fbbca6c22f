import Foundation

/// A TCP server that is not a Redis. It sends the same bytes to every client, or nothing at all.
final class FakeServer: Sendable {
  let port: Int
  private let descriptor: Int32
  /// Whether a thread accepts connections. That thread then closes the descriptor: if `deinit` closed it, the thread
  /// could accept on another socket that received the same number.
  private let isServing: Bool

  /// - Parameter words: The bytes to send to every client after its first bytes, before the connection is closed; nil
  ///   for a server that never accepts a connection.
  init?(saying words: [UInt8]? = nil) {
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
    isServing = words != nil
    guard let words else { return }
    Thread.detachNewThread {
      while true {
        let connection = accept(descriptor, nil, nil)
        guard connection >= 0 else {
          // `deinit` has shut the socket down.
          if errno == EINVAL { break } else { continue }
        }
        var heard = [UInt8](repeating: 0, count: 65_536)
        if recv(connection, &heard, heard.count, 0) > 0 { _ = send(connection, words, words.count, Self.noSignal) }
        close(connection)
      }
      close(descriptor)
    }
  }

  #if canImport(Darwin)
    private static let noSignal: Int32 = 0
  #else
    private static let noSignal = Int32(MSG_NOSIGNAL)
  #endif

  deinit {
    shutdown(descriptor, Int32(SHUT_RDWR))
    if !isServing { close(descriptor) }
  }
}
