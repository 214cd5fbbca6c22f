import ErrandCache
import ErrandCore
import Foundation

/// What Redis said of a key, read and judged.
struct RedisFound {
  /// One answer under the key.
  struct Candidate {
    let variant: String
    /// The head as it lies in Redis.
    let bytes: Data
    let head: CacheEntryHead
  }

  /// The answers, newest first.
  private(set) var candidates: [Candidate] = []
  /// The heads that are none, to be deleted.
  private(set) var damaged: [(variant: String, bytes: Data)] = []
  private let newest: String
  private let check: Data
  private let body: Data

  /// Nil where the reply does not say what the script says.
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

  /// The check and the body of an answer, if they came along.
  func body(of candidate: Candidate) -> (check: Data, body: Data)? {
    candidate.variant == newest ? (check, body) : nil
  }
}
