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
