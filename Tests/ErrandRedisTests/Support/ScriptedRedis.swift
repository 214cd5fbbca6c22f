import ErrandSupport
import Foundation

/// A server on the loopback interface that replies to each command of one connection with the result of a closure.
final class ScriptedRedis: Sendable {
  private let listener: ListeningSocket
  private let answered = Count()

  private final class Count: Sendable {
    let number = Locked(0)
  }

  var port: Int { listener.port }

  /// The number of commands that got a reply, without those that load scripts.
  var commands: Int { answered.number.withLock { $0 } }

  /// - Parameters:
  ///   - pause: The pause before each byte of a reply; nil sends each reply as a whole.
  ///   - answer: Returns the bytes to send for the command with a number, counted after the scripts were loaded; nil
  ///     closes the connection.
  init?(pause: Duration? = nil, _ answer: @escaping @Sendable (Int) -> [UInt8]?) {
    guard let listener = ListeningSocket() else { return nil }
    self.listener = listener
    listener.serve { [answered] connection in Self.serve(connection, answered, pause, answer) }
  }

  deinit { listener.stop() }

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
    var done = 0
    while done < bytes.count {
      let count = bytes[done...].withUnsafeBytes {
        send(connection, $0.baseAddress, $0.count, ListeningSocket.noSignal)
      }
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
