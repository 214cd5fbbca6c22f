/// One entry in the list of a store's entries.
public struct CacheListing: Sendable {
  /// The status, the fields and the cache data of the response: everything except the body.
  public let head: CacheEntryHead
  /// The key of the entry.
  public let key: CacheKey
  /// The length of the body, in bytes.
  public let bodyLength: Int
  /// The time at which the entry was last read or written.
  public let lastUse: WallTime

  /// Makes a listing from its properties.
  public init(head: CacheEntryHead, key: CacheKey, bodyLength: Int, lastUse: WallTime) {
    self.head = head
    self.key = key
    self.bodyLength = bodyLength
    self.lastUse = lastUse
  }
}
