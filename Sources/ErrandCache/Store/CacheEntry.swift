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
