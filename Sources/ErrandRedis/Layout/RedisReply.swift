import CHiredis
import ErrandCache
import ErrandCore
import Foundation

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

  /// The approximate number of bytes that the reply takes in memory.
  var length: Int {
    switch self {
    case .bytes(let data): 64 + data.count
    case .status(let text), .error(let text): 64 + text.utf8.count
    case .array(let list): list.reduce(64) { $0 + $1.length }
    case .integer, .nothing, .odd: 64
    }
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

/// The reply of Redis to a lookup. The ``CacheEntryRecord`` of each response in the reply has been checked.
struct RedisFound {
  /// A valid response that Redis stores under the requested cache key.
  struct Candidate {
    let variant: String
    /// The encoded response head, exactly as Redis stores it.
    let bytes: Data
    let head: CacheEntryHead
  }

  /// The valid responses under the requested cache key, newest first.
  private(set) var candidates: [Candidate] = []
  /// The responses whose stored heads cannot be decoded. The store deletes these responses from Redis.
  private(set) var damaged: [(variant: String, bytes: Data)] = []
  private let newest: String
  private let checksum: Data
  private let body: Data

  /// Parses the reply to the script `find`. Nil if the reply does not have the expected form.
  init?(_ reply: RedisReply, _ key: CacheKey) {
    let list = reply.list
    guard list.count >= 6, list.count.isMultiple(of: 2), list[0].text == "found", let newest = list[1].text,
      let checksum = list[2].data, let body = list[3].data
    else { return nil }
    (self.newest, self.checksum, self.body) = (newest, checksum, body)
    for index in stride(from: 4, to: list.count - 1, by: 2) {
      guard let variant = list[index].text, let bytes = list[index + 1].data else { return nil }
      add(variant, bytes, key)
    }
    candidates.sort { $0.head.responseTime > $1.head.responseTime }
  }

  private mutating func add(_ variant: String, _ bytes: Data, _ key: CacheKey) {
    if let head = Self.head(bytes, key, variant) {
      candidates.append(Candidate(variant: variant, bytes: bytes, head: head))
    } else {
      damaged.append((variant, bytes))
    }
  }

  private static func head(_ bytes: Data, _ key: CacheKey, _ variant: String) -> CacheEntryHead? {
    guard let record = CacheEntryRecord(encoded: bytes), record.key == key, record.head.variant.hex == variant
    else { return nil }
    return record.head
  }

  /// The body of a candidate, and its encoded ``BodyChecksum``. Nil if the reply does not contain this body.
  func body(of candidate: Candidate) -> (checksum: Data, body: Data)? {
    candidate.variant == newest ? (checksum, body) : nil
  }
}
