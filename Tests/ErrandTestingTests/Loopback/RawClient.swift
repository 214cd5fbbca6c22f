import ErrandSupport
import Foundation

@testable import ErrandTesting

/// A client without HTTP: it sends bytes, and returns the received bytes and the state of the connection.
final class RawClient: Sendable {
  /// The state of a connection after the last byte.
  enum End: Equatable { case open, closed, reset }

  /// The received bytes, and the state of the connection.
  struct Reply {
    let bytes: [UInt8]
    let end: End
    var text: String { String(decoding: bytes, as: UTF8.self) }
    var body: String { text.range(of: "\r\n\r\n").map { String(text[$0.upperBound...]) } ?? "" }
  }

  struct Failure: Error { let code: Int32 }

  private let descriptor: Int32
  private let isClosed = Locked(false)

  init(_ port: Int) throws {
    descriptor = socket(AF_INET, streamSocketType, 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    address.sin_port = UInt16(truncatingIfNeeded: port).bigEndian
    let status = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { name in
        connect(descriptor, name, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard status == 0 else { throw Failure(code: errno) }
  }

  convenience init(_ server: LoopbackServer, sending text: String = "") throws {
    try self.init(server.port)
    if !text.isEmpty { send(text) }
  }

  deinit { close() }

  func close() {
    let wasClosed = isClosed.withLock { isClosed in
      defer { isClosed = true }
      return isClosed
    }
    if !wasClosed { closeDescriptor(descriptor) }
  }

  @discardableResult
  func send(_ text: String) -> Bool { send(Array(text.utf8)) }

  /// False if the server no longer accepts data.
  @discardableResult
  func send(_ bytes: [UInt8]) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Foundation.send(descriptor, $0.baseAddress, $0.count, quietSendFlags) }
      if count > 0 {
        rest = rest.dropFirst(count)
      } else if errno == EAGAIN {
        _ = SystemPoll.wait(for: [(descriptor, SystemPoll.writable)], timeout: .seconds(20))
      } else {
        return false
      }
    }
    return true
  }

  /// Receives until there are `count` bytes or the connection ends.
  func receive(_ count: Int = .max) async -> Reply {
    await receive { $0.count >= count }
  }

  /// Receives until the bytes end with `text` or the connection ends.
  func receive(through text: String) async -> Reply {
    let wanted = Array(text.utf8)
    return await receive { $0.suffix(wanted.count).elementsEqual(wanted) }
  }

  /// Receives the available bytes without waiting.
  func receiveNow() -> Reply {
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = recv(descriptor, &buffer, buffer.count, quietReceiveFlags)
    return Reply(bytes: Array(buffer.prefix(max(0, count))), end: count == 0 ? .closed : .open)
  }

  /// Sends one request, and receives until the connection ends.
  static func exchange(_ server: LoopbackServer, _ text: String = "GET / HTTP/1.1\r\n\r\n") async throws -> Reply {
    try await RawClient(server, sending: text).receive()
  }

  private func receive(until isEnough: @escaping @Sendable ([UInt8]) -> Bool) async -> Reply {
    await withCheckedContinuation { continuation in
      Thread.detachNewThread { continuation.resume(returning: self.receiveBlocking(until: isEnough)) }
    }
  }

  private func receiveBlocking(until isEnough: ([UInt8]) -> Bool) -> Reply {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    while !isEnough(bytes) {
      let ready = SystemPoll.wait(for: [(descriptor, SystemPoll.readable)], timeout: .seconds(20))
      guard ready[0] != 0 else { return Reply(bytes: bytes, end: .open) }
      let count = recv(descriptor, &buffer, buffer.count, quietReceiveFlags)
      if count == 0 { return Reply(bytes: bytes, end: .closed) }
      if count < 0 { return Reply(bytes: bytes, end: errno == ECONNRESET ? .reset : .open) }
      bytes += buffer[..<count]
    }
    return Reply(bytes: bytes, end: .open)
  }
}
