import ErrandCache
import ErrandCore
import Foundation

/// The result of a lookup in Redis, after validation.
struct RedisFound {
  /// One response under the key.
  struct Candidate {
    let variant: String
    /// The encoded head as stored in Redis.
    let bytes: Data
    let head: CacheEntryHead
  }

  /// The valid responses under the key, newest first.
  private(set) var candidates: [Candidate] = []
  /// The responses whose heads are invalid. They are deleted from Redis.
  private(set) var damaged: [(variant: String, bytes: Data)] = []
  private let newest: String
  private let check: Data
  private let body: Data

  /// Makes a value from the reply to the script `find`; nil if the reply does not have the expected form.
  init?(_ reply: RedisReply, _ key: CacheKey) {
    let list = reply.list
    guard list.count >= 6, list.count.isMultiple(of: 2), list[0].text == "found", let newest = list[1].text,
      let check = list[2].data, let body = list[3].data
    else { return nil }
    (self.newest, self.check, self.body) = (newest, check, body)
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

  /// The body of a candidate with its check (length and checksum); nil if the reply does not contain this body.
  func body(of candidate: Candidate) -> (check: Data, body: Data)? {
    candidate.variant == newest ? (check, body) : nil
  }
}
