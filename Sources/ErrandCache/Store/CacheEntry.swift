public import Foundation

/// One stored answer: its head and its body, always written and read as a unit.
public struct CacheEntry: Sendable {
  /// Which answers it belongs to.
  public let key: CacheKey
  /// All but the body.
  public var head: CacheEntryHead
  /// The body, its content coding undone.
  public var body: Data
  /// What was decoded from it before; only in memory.
  package var decoded: DecodedValues?

  /// Makes an entry of its parts.
  public init(key: CacheKey, head: CacheEntryHead, body: Data) {
    self.key = key
    self.head = head
    self.body = body
  }
}

extension CacheEntry {
  /// The whole entry in one piece of bytes, for stores of your own that keep entries whole.
  ///
  /// The length of the record as eight bytes, the lowest first, then the record (see ``CacheEntryRecord``), then the
  /// body.
  public func encoded() -> Data {
    let record = CacheEntryRecord(self).bytes
    var writer = ByteWriter()
    writer.bytes.reserveCapacity(8 + record.count + body.count)
    writer.fixed(UInt64(record.count))
    writer.bytes += record
    writer.bytes += body
    return Data(writer.bytes)
  }

  /// Reads an entry. Nil where the bytes are none, are damaged, or are of another version of the form.
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
