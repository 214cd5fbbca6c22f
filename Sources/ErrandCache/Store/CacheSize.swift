/// The size of a store.
public struct CacheSize: Sendable, Hashable {
  /// The number of entries.
  public var entries: Int
  /// The number of bytes in use. For a store on a disk, the size of all files in the folder, including the index.
  public var bytes: Int
  /// The maximum size in bytes; nil if the store sets no limit.
  public var limit: Int?

  /// Makes a size.
  public init(entries: Int, bytes: Int, limit: Int?) {
    self.entries = entries
    self.bytes = bytes
    self.limit = limit
  }
}
