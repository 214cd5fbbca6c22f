import ErrandCache
import ErrandCore
import Foundation
import TestSupport

/// Entries whose heads identify their bodies, so that a mixture of two entries is detected.
enum SelfDescribed {
  static func key(_ index: UInt64) -> CacheKey {
    CacheKey(
      entry: digest(index, 1), anyAccount: digest(index, 2), target: digest(index, 3), account: digest(0, 4))
  }

  static func entry(
    _ index: UInt64, version: UInt64, length: UInt64, host: String = "example.com"
  ) -> CacheEntry {
    CacheEntry(
      key: key(index),
      head: CacheEntryHead(
        variant: digest(0, 5),
        answer: ResponseHead(status: 200, fields: ["ETag": "\"\(index)-\(version)-\(length)\""]),
        requestTime: .now, responseTime: .now, policy: .http,
        label: CacheEntryLabel(method: "GET", url: "https://\(host)/\(index)", host: host, tag: nil)),
      body: body(index, version, length))
  }

  static func isRight(_ entry: CacheEntry, under key: CacheKey) -> Bool {
    let words = entry.head.answer.fields["ETag"]?.trimmingCharacters(in: ["\""]).split(separator: "-") ?? []
    let numbers = words.compactMap { UInt64($0) }
    guard numbers.count == 3, entry.key == key, self.key(numbers[0]) == key else { return false }
    return entry.body == body(numbers[0], numbers[1], numbers[2])
  }

  private static func body(_ index: UInt64, _ version: UInt64, _ length: UInt64) -> Data {
    randomBytes(Int(length), seed: index &* 1_000_003 &+ version)
  }

  private static func digest(_ index: UInt64, _ kind: UInt64) -> Digest {
    Digest(words: ((index + 1) &* 0x9E37_79B9_7F4A_7C15 ^ kind, index, kind, 7))
  }
}
