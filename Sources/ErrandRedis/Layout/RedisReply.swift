import CHiredis
import ErrandCache
import Foundation

/// A reply of Redis.
enum RedisReply: Sendable, Equatable {
  case bytes(Data)
  case status(String)
  case integer(Int64)
  case array([RedisReply])
  case nothing
  case error(String)
  /// The reply has a type that the store does not use.
  case odd

  /// Copies a reply of hiredis. Never traps, whatever the reply contains.
  init(_ reply: UnsafePointer<redisReply>) {
    self.init(reply, depth: 0)
  }

  private init(_ reply: UnsafePointer<redisReply>, depth: Int) {
    let reply = reply.pointee
    switch reply.type {
    case REDIS_REPLY_STRING: self = reply.text.map { .bytes($0) } ?? .odd
    case REDIS_REPLY_STATUS: self = reply.text.map { .status(String(decoding: $0, as: UTF8.self)) } ?? .odd
    case REDIS_REPLY_ERROR: self = .error(reply.text.map { String(decoding: $0, as: UTF8.self) } ?? "")
    case REDIS_REPLY_INTEGER: self = .integer(Int64(reply.integer))
    case REDIS_REPLY_NIL: self = .nothing
    case REDIS_REPLY_ARRAY: self = Self.array(of: reply, depth: depth)
    default: self = .odd
    }
  }

  private static func array(of reply: redisReply, depth: Int) -> RedisReply {
    guard let count = Int(exactly: reply.elements), count > 0 else { return .array([]) }
    guard depth < 8, let elements = reply.element else { return .odd }
    return .array(
      (0..<count).map { elements[$0].map { RedisReply(UnsafePointer($0), depth: depth + 1) } ?? .odd })
  }

  var data: Data? { if case .bytes(let data) = self { data } else { nil } }

  var text: String? {
    switch self {
    case .bytes(let data): String(data: data, encoding: .utf8)
    case .status(let text): text
    default: nil
    }
  }

  var number: Int64? { if case .integer(let number) = self { number } else { nil } }

  var list: [RedisReply] { if case .array(let list) = self { list } else { [] } }

  var isError: Bool { if case .error = self { true } else { false } }

  /// Whether Redis no longer has the script of the command, because the script cache of Redis was flushed.
  var lacksScript: Bool { if case .error(let text) = self { text.hasPrefix("NOSCRIPT") } else { false } }

  /// The salt that Redis uses; nil if this reply does not contain the salt. Redis returns its salt in two cases: if the
  /// command asks for the salt, or if the command contains another salt.
  var salt: Digest? {
    guard list.count == 2, list.first?.text == "salt", let hex = list.last?.text else { return nil }
    return Digest(hex: hex)
  }
}

extension redisReply {
  fileprivate var text: Data? {
    guard let count = Int(exactly: len), count >= 0 else { return nil }
    guard count > 0 else { return Data() }
    return str.map { Data(bytes: $0, count: count) }
  }
}
