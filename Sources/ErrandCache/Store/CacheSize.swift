/// How much a store keeps.
public struct CacheSize: Sendable, Hashable {
  /// The number of entries.
  public var entries: Int
  /// Bytes in use; on a disk everything in the folder, the index too.
  public var bytes: Int
  /// The bound in bytes; nil for none of its own.
  public var limit: Int?

  /// Makes a size.
  public init(entries: Int, bytes: Int, limit: Int?) {
    self.entries = entries
    self.bytes = bytes
    self.limit = limit
  }
}
