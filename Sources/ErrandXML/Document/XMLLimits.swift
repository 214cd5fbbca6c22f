/// How large an XML document may be; one that passes a limit is refused before anything is built of it.
///
/// Beside them stand limits of the parser: 1,000 attributes to an element, and 10,000,000 bytes to a text or value.
public struct XMLLimits: Sendable, Hashable {
  /// How deep elements may stand in each other; 100, and never more than 500.
  public var depth: Int
  /// How many elements and attributes there may be; 1,000,000.
  public var nodes: Int
  /// How many bytes the body may have; 64 MiB.
  public var bytes: Int

  /// Limits; the standard ones where nothing is said.
  public init(depth: Int = 100, nodes: Int = 1_000_000, bytes: Int = 64 << 20) {
    self.depth = min(depth, Self.deepest)
    self.nodes = nodes
    self.bytes = min(bytes, Self.largest)
  }

  /// Values are freed by recursion, so a deeper one could end a thread.
  static let deepest = 500
  /// libxml2 counts bytes in 32 bits.
  static let largest = 1 << 30
}
