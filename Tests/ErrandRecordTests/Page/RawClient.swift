import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A connection that sends any bytes. Reads end after ten seconds without a byte.
final class RawClient {
  private let descriptor: Int32
  let isConnected: Bool
  /// The received bytes that no read has returned yet.
  private var rest: [UInt8] = []

  /// Connects to the port of a URL of 127.0.0.1.
  init(_ url: String) throws {
    #if canImport(Glibc)
      descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    #else
      descriptor = socket(AF_INET, SOCK_STREAM, 0)
    #endif
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = UInt16(URL(string: url)?.port ?? 0).bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let descriptor = descriptor
    isConnected = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, size) == 0 }
    }
    var limit = timeval(tv_sec: 60, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
  }

  deinit { close(descriptor) }

  func write(_ text: String) {
    let bytes = Array(text.utf8)
    #if canImport(Glibc)
      _ = send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    #else
      _ = send(descriptor, bytes, bytes.count, 0)
    #endif
  }

  /// Reads up to the end of `mark`. Returns nil if the connection ends or is silent before.
  func read(until mark: String) -> String? {
    while true {
      if let end = rest.firstRange(of: Array(mark.utf8))?.upperBound {
        defer { rest.removeFirst(end) }
        return String(decoding: rest[..<end], as: UTF8.self)
      }
      guard let piece = piece(), !piece.isEmpty else { return nil }
      rest += piece
    }
  }

  /// Reads until the peer closes the connection. Returns nil if it does not close it.
  func readToEnd() -> String? {
    while let piece = piece() {
      if piece.isEmpty { return String(decoding: rest, as: UTF8.self) }
      rest += piece
    }
    return nil
  }

  /// The next bytes; empty at the end or after a reset, nil after ten seconds.
  private func piece() -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: 1 << 16)
    let count = recv(descriptor, &bytes, bytes.count, 0)
    if count > 0 { return Array(bytes[..<count]) }
    return count == 0 || errno == ECONNRESET ? [] : nil
  }
}
