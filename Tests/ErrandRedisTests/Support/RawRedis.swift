import Foundation

@testable import ErrandRedis

/// A plain, blocking connection to Redis, for tests that inspect and damage the keys of a store.
final class RawRedis {
  private let connection: RedisConnection

  /// Nil if no server listens.
  init?(socket: String) {
    guard let connection = RedisConnection(.unix(path: socket), mostBytes: .max) else { return nil }
    self.connection = connection
    guard run("PING") == .status("PONG") else { return nil }
  }

  @discardableResult
  func run(_ parts: String...) -> RedisReply { run(parts.map { Data($0.utf8) }) }

  func run(_ parts: [Data]) -> RedisReply {
    guard connection.add(RedisCall.encode(parts)) else { return .odd }
    while true {
      if !connection.hasRoom, !connection.write() { return .odd }
      var place = pollfd(
        fd: connection.descriptor, events: Int16(connection.hasRoom ? POLLIN : POLLIN | POLLOUT), revents: 0)
      _ = poll(&place, 1, -1)
      if place.revents & ~Int16(POLLOUT) != 0, !connection.read() { return .odd }
      guard let reply = try? connection.reply() else { continue }
      return reply
    }
  }

  /// The names of all keys with a prefix, sorted.
  func keys(_ prefix: String) -> [String] {
    run("KEYS", prefix + ":*").list.compactMap(\.text).sorted()
  }

  /// All fields of a hash.
  func fields(_ key: String) -> [(name: String, value: Data)] {
    let list = run("HGETALL", key).list
    return stride(from: 0, to: list.count - 1, by: 2).compactMap { index in
      guard let name = list[index].text, let value = list[index + 1].data else { return nil }
      return (name, value)
    }
  }
}
