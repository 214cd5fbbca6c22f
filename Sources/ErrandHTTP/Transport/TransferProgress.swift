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
  /// The bytes that have gone over the wire so far; for a download into a file with those that earlier calls have left.
  public let bytes: Int64
  /// The bytes in all, or nil where nobody has said.
  public let total: Int64?
  /// Bytes a second, smoothed over some seconds; nil in the first tenth of a second, and from a transport.
  public package(set) var rate: Double?
  /// How long the rest takes at this rate; nil where it cannot be told.
  public package(set) var timeLeft: Duration?
  /// Whether counting begins here: with the bytes that a part has, or anew where a download starts over or a body is
  /// sent once more. Only here may ``bytes`` be fewer than before.
  public package(set) var isRestart: Bool

  /// Makes a report.
  public init(_ direction: Direction, bytes: Int64, total: Int64?, isRestart: Bool = false) {
    self.direction = direction
    self.bytes = bytes
    self.total = total
    self.isRestart = isRestart
  }

  /// The part done, 0 to 1; nil where the total is unknown.
  public var fraction: Double? {
    guard let total, total > 0 else { return nil }
    return min(1, Double(bytes) / Double(total))
  }
}
