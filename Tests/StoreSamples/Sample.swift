package import ErrandCache
import ErrandCore
package import ErrandHTTP
import ErrandTesting
package import Foundation
import TestSupport

extension CallState {
  /// A call for which no time passes, so that a store that waits only for a limited time does not give up on a slow
  /// machine.
  package static var withoutTime: CallState { CallState(timers: ManualClock()) }
}

/// Keys and entries for tests of stores.
package enum Sample {
  /// A digest derived from a text.
  package static func digest(_ text: String) -> Digest {
    var words: [UInt64] = [14_695_981_039_346_656_037, 1, 2, 3]
    for byte in text.utf8 {
      for index in words.indices { words[index] = (words[index] ^ UInt64(byte)) &* 1_099_511_628_211 }
    }
    return Digest(words: (words[0] ^ words[0] >> 29, words[1], words[2], words[3]))
  }

  /// The key of a path and an account. Both methods of a path have the same target.
  package static func key(_ path: String, account: String = "", method: String = "GET") -> CacheKey {
    CacheKey(
      entry: digest("entry \(method) \(path) \(account)"), anyAccount: digest("any \(method) \(path)"),
      target: digest("target \(path) \(account)"), account: digest("account \(account)"))
  }

  package static func head(
    variant: String = "", time: Int64 = 1_000, host: String = "api.example.com", tag: String? = nil,
    isMemoryOnly: Bool = false, eTag: String = "\"1\"", groups: String? = nil
  ) -> CacheEntryHead {
    var fields: HTTPFields = ["Content-Type": "application/json", "ETag": "\(eTag)", "Vary": "Accept-Language"]
    if let groups { fields.append(HTTPField("Cache-Groups", groups)) }
    return CacheEntryHead(
      variant: digest("variant \(variant)"), vary: [VaryingField(name: "accept-language", value: variant)],
      answer: ResponseHead(status: 200, reason: "OK", fields: fields),
      requestTime: WallTime(milliseconds: time &- 20), responseTime: WallTime(milliseconds: time),
      policy: .lifetime(.seconds(180), version: 2), appVersion: "1.0", isMemoryOnly: isMemoryOnly,
      label: CacheEntryLabel(method: "GET", url: "https://\(host)/a?q=•", host: host, tag: tag))
  }

  package static func entry(_ path: String, account: String = "", body: String = "body", head: CacheEntryHead = head())
    -> CacheEntry
  {
    CacheEntry(key: key(path, account: account), head: head, body: Data(body.utf8))
  }

  /// Pseudo-random bytes derived from a seed.
  package static func bytes(_ count: Int, seed: UInt64 = 1) -> Data { randomBytes(count, seed: seed) }
}

extension CacheStore {
  /// The newest entry under a key, or the result of the lookup if there is none.
  package func newest(_ key: CacheKey) async -> CacheLookup {
    await find(key, choosing: { _ in 0 }, call: CallState(), patience: nil)
  }

  /// The text of the newest entry's body.
  package func text(_ key: CacheKey) async -> String? {
    guard case .found(let entry) = await newest(key) else { return nil }
    return String(decoding: entry.body, as: UTF8.self)
  }

  /// The heads of all variants under a key.
  package func heads(_ key: CacheKey) async -> [CacheEntryHead] {
    guard case .refused(let heads) = await find(key, choosing: { _ in nil }, call: CallState(), patience: nil) else {
      return []
    }
    return heads
  }

  package func isMissing(_ key: CacheKey) async -> Bool {
    if case .missing = await newest(key) { true } else { false }
  }

  /// Whether another account than that of a key has an entry for the same request.
  package func holdsForOthers(_ key: CacheKey) async -> Bool {
    await holdsForOthers(key.anyAccount, than: [key.account], call: CallState(), patience: nil)
  }
}
