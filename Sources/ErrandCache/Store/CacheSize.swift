/// The size of a store.
public struct CacheSize: Sendable, Hashable {
  /// The number of stored entries.
  public var entries: Int
  /// The number of bytes that the store uses. For a store on a disk, this is the size of all files in its folder,
  /// including the index.
  public var bytes: Int
  /// The maximum size in bytes; nil if the store sets no limit.
  public var limit: Int?

  /// Makes a size from its properties.
  public init(entries: Int, bytes: Int, limit: Int?) {
    self.entries = entries
    self.bytes = bytes
    self.limit = limit
  }
}
