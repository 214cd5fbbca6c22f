/// The progress of a request body or a response body.
public struct TransferProgress: Sendable, Hashable {
  /// The direction in which a body is transferred.
  public enum Direction: Sendable, Hashable {
    /// The body of the request, which is sent to the server.
    case upload
    /// The body of the response, which is received from the server.
    case download
  }

  /// Whether the report is about the request body or the response body.
  public let direction: Direction
  /// The number of bytes transferred so far. A download into a file includes the bytes that earlier calls stored.
  public let bytes: Int64
  /// The total number of bytes, or nil if it is unknown.
  public let total: Int64?
  /// The bytes per second, averaged over some seconds. Nil in the first tenth of a second, and in all reports that come
  /// directly from a transport.
  public package(set) var rate: Double?
  /// The estimated time for the remaining bytes; nil if the time is unknown.
  public package(set) var timeLeft: Duration?
  /// True if the counting of bytes starts again with this report. The count starts at the size of a partial file, or at
  /// zero if a download or an upload begins again. Only in such a report may ``bytes`` be lower than in the report
  /// before.
  public package(set) var isRestart: Bool

  /// Makes a report without ``rate`` and ``timeLeft``, which the library adds later.
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
