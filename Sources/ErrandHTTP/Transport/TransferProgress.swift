/// The progress of a request body or a response body.
public struct TransferProgress: Sendable, Hashable {
  /// The direction of a body.
  public enum Direction: Sendable, Hashable {
    /// The request's body.
    case upload
    /// The response's body.
    case download
  }

  /// The direction of the body.
  public let direction: Direction
  /// The number of bytes transferred so far. A download into a file includes the bytes that earlier calls stored.
  public let bytes: Int64
  /// The total number of bytes, or nil if it is unknown.
  public let total: Int64?
  /// The bytes per second, averaged over some seconds. Nil in the first tenth of a second, and in all reports that come
  /// directly from a transport.
  public package(set) var rate: Double?
  /// The estimated time for the remaining bytes; nil if it is unknown.
  public package(set) var timeLeft: Duration?
  /// True if the counting starts with this report: at the size of a partial file, or at zero if a download or an upload
  /// starts again. Only in such a report may ``bytes`` be lower than before.
  public package(set) var isRestart: Bool

  /// Makes a report.
  public init(_ direction: Direction, bytes: Int64, total: Int64?, isRestart: Bool = false) {
    self.direction = direction
    self.bytes = bytes
    self.total = total
    self.isRestart = isRestart
  }

  /// The completed fraction, 0 to 1; nil if the total is unknown.
  public var fraction: Double? {
    guard let total, total > 0 else { return nil }
    return min(1, Double(bytes) / Double(total))
  }
}
