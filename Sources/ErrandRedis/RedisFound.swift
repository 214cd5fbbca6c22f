import ErrandCache
import ErrandCore
import Foundation

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
