import Foundation

/// One command: a script and its arguments.
struct RedisCall: Sendable {
  let script: RedisScript
  let arguments: [Data]

  /// The bytes of a command as Redis reads it: the number of parts, and each part with its length before it.
  static func encode(_ parts: [Data]) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(parts.reduce(16) { $0 + $1.count + 16 })
    bytes += "*\(parts.count)\r\n".utf8
    for part in parts {
      bytes += "$\(part.count)\r\n".utf8
      bytes += part
      bytes += "\r\n".utf8
    }
    return bytes
  }

  /// The bytes, given the name under which Redis keeps the script.
  func encoded(name: Data) -> [UInt8] {
    Self.encode([Data("EVALSHA".utf8), name, Data("0".utf8)] + arguments)
  }
}
