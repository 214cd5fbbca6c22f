import ErrandSupport
import Foundation

/// A server on the loopback interface that replies to each command of one connection with the result of a closure.
final class ScriptedRedis: Sendable {
  let port: Int
  private let descriptor: Int32
  private let answered = Count()

  private final class Count: Sendable {
    let number = Locked(0)
  }

  /// The number of commands that got a reply, without those that load scripts.
  var commands: Int { answered.number.withLock { $0 } }

  /// - Parameters:
  ///   - pause: The pause before each byte of a reply; nil sends each reply as a whole.
  ///   - answer: Returns the bytes to send for the command with a number, counted after the scripts were loaded; nil
  ///     closes the connection.
  init?(pause: Duration? = nil, _ answer: @escaping @Sendable (Int) -> [UInt8]?) {
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
    Thread.detachNewThread { [answered] in
      while true {
        let connection = accept(descriptor, nil, nil)
        guard connection >= 0 else {
          if errno == EINVAL { break } else { continue }
        }
        Self.serve(connection, answered, pause, answer)
        close(connection)
      }
      close(descriptor)
    }
  }

  deinit { shutdown(descriptor, Int32(SHUT_RDWR)) }

  private static func serve(
    _ connection: Int32, _ answered: Count, _ pause: Duration?, _ answer: @Sendable (Int) -> [UInt8]?
  ) {
    var heard: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = recv(connection, &piece, piece.count, 0)
      guard count > 0 else { return }
      heard += piece[..<count]
      while let (parts, rest) = command(heard[...]) {
        heard = Array(rest)
        let isScript = parts.first == Array("SCRIPT".utf8)
        let number = answered.number.withLock { number in
          if !isScript { number += 1 }
          return number
        }
        let reply = isScript ? Array("$40\r\n0123456789012345678901234567890123456789\r\n".utf8) : answer(number)
        guard let reply else { return }
        if !isScript, let pause {
          for byte in reply {
            Thread.sleep(forTimeInterval: pause / .seconds(1))
            guard sendAll(connection, [byte]) else { return }
          }
        } else if !sendAll(connection, reply) {
          return
        }
      }
    }
  }

  private static func sendAll(_ connection: Int32, _ bytes: [UInt8]) -> Bool {
    #if canImport(Darwin)
      let flags: Int32 = 0
    #else
      let flags = Int32(MSG_NOSIGNAL)
    #endif
    var done = 0
    while done < bytes.count {
      let count = bytes[done...].withUnsafeBytes { send(connection, $0.baseAddress, $0.count, flags) }
      guard count > 0 else { return false }
      done += count
    }
    return true
  }

  /// The parts of the first complete command, and the remaining bytes.
  private static func command(_ bytes: ArraySlice<UInt8>) -> ([[UInt8]], ArraySlice<UInt8>)? {
    var rest = bytes
    guard let count = number(&rest) else { return nil }
    var parts: [[UInt8]] = []
    for _ in 0..<count {
      guard let length = number(&rest), rest.count >= length + 2 else { return nil }
      parts.append(Array(rest.prefix(length)))
      rest = rest.dropFirst(length + 2)
    }
    return (parts, rest)
  }

  private static func number(_ bytes: inout ArraySlice<UInt8>) -> Int? {
    guard let end = bytes.firstIndex(of: 10), end > bytes.startIndex + 1 else { return nil }
    defer { bytes = bytes[(end + 1)...] }
    return Int(String(decoding: bytes[(bytes.startIndex + 1)..<(end - 1)], as: UTF8.self))
  }
}
