/// How far a body has come.
public struct TransferProgress: Sendable, Hashable {
  /// Which body.
  public enum Direction: Sendable, Hashable {
    /// The request's body.
    case upload
    /// The answer's body.
    case download
  }

  /// Which body.
  public let direction: Direction
  /// The bytes that have gone over the wire so far.
  public let bytes: Int64
  /// The bytes in all, or nil where nobody has said.
  public let total: Int64?

  /// Makes a report.
  public init(_ direction: Direction, bytes: Int64, total: Int64?) {
    self.direction = direction
    self.bytes = bytes
    self.total = total
  }

  /// The part done, 0 to 1; nil where the total is unknown.
  public var fraction: Double? {
    guard let total, total > 0 else { return nil }
    return min(1, Double(bytes) / Double(total))
  }
}
