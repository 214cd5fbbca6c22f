/// One entry in a list.
public struct CacheListing: Sendable {
  /// All that is known of it but the body.
  public let head: CacheEntryHead
  /// The key.
  public let key: CacheKey
  /// The body's length in bytes.
  public let bodyLength: Int
  /// When it was last read or written.
  public let lastUse: WallTime

  /// Makes a listing.
  public init(head: CacheEntryHead, key: CacheKey, bodyLength: Int, lastUse: WallTime) {
    self.head = head
    self.key = key
    self.bodyLength = bodyLength
    self.lastUse = lastUse
  }
}
