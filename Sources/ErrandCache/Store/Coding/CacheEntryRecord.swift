public import Foundation

/// All of an entry but its body, and how long the body is and what its checksum is: what a store keeps beside it.
///
/// For stores of your own that keep heads and bodies apart. The coded form is compact and versioned:
///
/// | bytes | what |
/// |---|---|
/// | 1 | the version of the form, 1 |
/// | 8 | checksum over the rest, lowest byte first |
/// | 5 × 32 | digests: entry, without the account, target, account, variant |
/// | 1–9, 8 | length of the body, seven bits a byte; its checksum |
/// | 8, 8 | when the request was sent and the answer came, in milliseconds since 1970 |
/// | the rest | policy, flags, answer, fields that `Vary` names, version of the app, label |
///
/// Numbers and lengths come lowest byte first, texts as a length and UTF-8. The moment on the monotonic clock is left
/// out: it means nothing to another process.
public struct CacheEntryRecord: Sendable {
  /// Which answers it belongs to.
  public let key: CacheKey
  /// All but the body.
  public let head: CacheEntryHead
  /// The length of the body as it is stored, in bytes.
  public let bodyLength: Int
  /// The checksum of the body as it is stored: against damage, not against attack.
  public let bodyChecksum: UInt64

  init(key: CacheKey, head: CacheEntryHead, bodyLength: Int, bodyChecksum: UInt64) {
    self.key = key
    self.head = head
    self.bodyLength = bodyLength
    self.bodyChecksum = bodyChecksum
  }

  /// Makes the record of an entry whose body is stored as it is.
  public init(_ entry: CacheEntry) {
    self.init(key: entry.key, head: entry.head, storedBody: entry.body)
  }

  /// Makes the record of an entry whose body is stored in another form, such as a sealed one.
  public init(key: CacheKey, head: CacheEntryHead, storedBody: Data) {
    let checksum = storedBody.withUnsafeBytes { DamageSum.of($0) }
    self.init(key: key, head: head, bodyLength: storedBody.count, bodyChecksum: checksum)
  }

  /// Reads a record. Nil where the bytes are none, are damaged, or are of another version of the form.
  public init?(encoded: Data) {
    let record = encoded.withUnsafeBytes { CacheEntryRecord(bytes: $0) }
    guard let record else { return nil }
    self = record
  }

  /// Whether these bytes have the recorded length and checksum.
  public func fits(storedBody: Data) -> Bool {
    storedBody.withUnsafeBytes { fits($0) }
  }

  func fits(_ storedBody: UnsafeRawBufferPointer) -> Bool {
    storedBody.count == bodyLength && DamageSum.of(storedBody) == bodyChecksum
  }

  /// The same body under another head.
  public func renewed(_ head: CacheEntryHead) -> CacheEntryRecord {
    CacheEntryRecord(key: key, head: head, bodyLength: bodyLength, bodyChecksum: bodyChecksum)
  }

  /// The coded form.
  public func encoded() -> Data { Data(bytes) }
}
