package import ErrandCore
import ErrandSupport
public import Foundation

/// One stored response: its key, its head (status, fields and cache data) and its body. Head and body are always
/// written and read together.
public struct CacheEntry: Sendable {
  /// The key that the response is stored under.
  public let key: CacheKey
  /// The status, the fields and the cache data of the response: everything except the body.
  public var head: CacheEntryHead
  /// The body, after content decoding.
  public var body: Data
  /// The values that were decoded from the body. They are kept only in memory.
  package var decoded: DecodedValues?

  /// Makes an entry from its key, its head and its body.
  public init(key: CacheKey, head: CacheEntryHead, body: Data) {
    self.key = key
    self.head = head
    self.body = body
  }
}

extension CacheEntry {
  /// Encodes the entry as one sequence of bytes, for custom stores that keep head and body together.
  ///
  /// The format: the length of the record as eight bytes, least significant first; the record (see
  /// ``CacheEntryRecord``); the body.
  public func encoded() -> Data {
    let record = CacheEntryRecord(self).bytes
    var writer = ByteWriter()
    writer.bytes.reserveCapacity(8 + record.count + body.count)
    writer.fixed(UInt64(record.count))
    writer.bytes += record
    writer.bytes += body
    return Data(writer.bytes)
  }

  /// Decodes an entry. Nil if the bytes are not an entry, are damaged, or have another format version.
  public init?(encoded: Data) {
    let entry = encoded.withUnsafeBytes { CacheEntry(bytes: $0) }
    guard let entry else { return nil }
    self = entry
  }

  private init?(bytes: UnsafeRawBufferPointer) {
    var reader = ByteReader(bytes)
    guard let length = try? reader.fixed(), let count = Int(exactly: length), let head = try? reader.take(count),
      let record = CacheEntryRecord(bytes: head)
    else { return nil }
    let body = UnsafeRawBufferPointer(rebasing: bytes[(8 + count)...])
    guard record.fits(body) else { return nil }
    self.init(key: record.key, head: record.head, body: Data(body))
  }
}

/// A readable description of an entry. It is used in lists, and to remove entries by host or tag.
public struct CacheEntryLabel: Sendable, Hashable {
  /// The request method.
  public let method: String
  /// The URL, with the values of its query masked.
  public let url: String
  /// The host in lower case.
  public let host: String
  /// The tag of the call that stored the entry.
  public let tag: String?

  /// Makes a label from its properties.
  public init(method: String, url: String, host: String, tag: String?) {
    self.method = method
    self.url = url
    self.host = host
    self.tag = tag
  }
}

extension CacheEntryLabel: ComparedByBytes {
  package var identity: some Hashable {
    Parts(ByteText(method), ByteText(url), ByteText(host), tag.map { ByteText($0) })
  }
}

/// The values that were decoded from the body of one entry. They are kept in memory and released with the entry.
///
/// Each value is stored under the rules with which it was validated and decoded. The estimated size of a value is added
/// to the size of the entry. A value that is too large is not kept.
package final class DecodedValues: Sendable {
  /// The maximum number of values for one entry. A client usually has few request types for one response.
  private static let most = 8

  private struct Kept: Sendable {
    let rules: DecodedRules
    let value: any Sendable
  }

  /// The values are in an array, not in a dictionary, because comparing a few rules is faster than hashing one.
  private let values = Locked<[Kept]>([])
  private let admits: @Sendable (DecodedValues, Int) -> Bool

  /// Makes an object without values.
  /// - Parameter admits: A function that receives a number of bytes and returns whether the entry may grow by this
  ///   number. If the result is true, the store has already added the bytes to the size of the entry.
  package init(admits: @escaping @Sendable (DecodedValues, Int) -> Bool) { self.admits = admits }

  /// The value that was decoded under these rules; nil if no such value is kept.
  package func value(_ rules: DecodedRules) -> (any Sendable)? {
    values.withLock { values in values.first { $0.rules == rules }?.value }
  }

  /// Keeps a value. The value is dropped in three cases: a value under equal rules is already kept, the entry already
  /// has the maximum number of values, or the store has no space for the value.
  /// - Parameter cost: The estimated size of the value, in bytes.
  package func keep(_ value: any Sendable, _ rules: DecodedRules, cost: Int) {
    let isNew = values.withLock { values in
      guard values.count < Self.most, !values.contains(where: { $0.rules == rules }) else { return false }
      values.append(Kept(rules: rules, value: value))
      return true
    }
    guard isNew, !admits(self, max(cost, 0)) else { return }
    let refused = values.withLock { values in
      values.firstIndex { $0.rules == rules }.map { values.remove(at: $0) }
    }
    _ = refused
  }

  package var count: Int { values.withLock { $0.count } }
}
