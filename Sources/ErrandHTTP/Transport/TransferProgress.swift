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
  /// before. If a slow reader of a stream has missed such a report, the value is true in its next report.
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

/// Reports the progress of the request body and of the response body. The progress of each body is reported at most
/// once in 50 ms. The final number of bytes of each body is always reported, with the total.
///
/// A number that is passed before the next report is due is kept. The engine calls ``reportWaiting(at:)`` at
/// ``nextReport``, so that a stalled body does not show an old number. The transport on libcurl does not.
package struct ProgressReporter {
  private static let interval = Duration.milliseconds(50)

  /// The reports of one direction.
  private struct State {
    var due: MonotonicInstant?
    var reported: (bytes: Int64, total: Int64?) = (-1, nil)
    /// The number of bytes that was passed before the next report was due, and the total.
    var waiting: (bytes: Int64, total: Int64?)?
  }

  private let action: @Sendable (TransferProgress) -> Void
  private var upload = State()
  private var download = State()

  package init(_ action: @escaping @Sendable (TransferProgress) -> Void) { self.action = action }

  private subscript(direction: TransferProgress.Direction) -> State {
    get { direction == .upload ? upload : download }
    set { if direction == .upload { upload = newValue } else { download = newValue } }
  }

  package mutating func report(
    _ direction: TransferProgress.Direction, _ bytes: Int64, total: Int64?, at now: MonotonicInstant
  ) {
    let state = self[direction]
    guard state.reported != (bytes, total) else { return }
    if let due = state.due, now < due, bytes != total {
      self[direction].waiting = (bytes, total)
      return
    }
    self[direction] = State(due: now.advanced(by: Self.interval), reported: (bytes, total))
    action(TransferProgress(direction, bytes: bytes, total: total))
  }

  /// The time at which a number of bytes that is kept can be reported. Nil if none is kept.
  package var nextReport: MonotonicInstant? {
    [upload, download].compactMap { $0.waiting == nil ? nil : $0.due }.min()
  }

  /// Reports the numbers of bytes that are kept and are due now.
  package mutating func reportWaiting(at now: MonotonicInstant) {
    if let (bytes, total) = upload.waiting { report(.upload, bytes, total: total, at: now) }
    if let (bytes, total) = download.waiting { report(.download, bytes, total: total, at: now) }
  }

  /// Drops the numbers of bytes that are kept, because the exchange begins again.
  package mutating func dropWaiting() { (upload.waiting, download.waiting) = (nil, nil) }

  /// Reports the final number of transferred bytes of a body as its total, unless this has already been reported.
  package mutating func finish(_ direction: TransferProgress.Direction, _ bytes: Int64) {
    let (last, end) = (self[direction], State(reported: (bytes, bytes)))
    self[direction] = end
    if last.reported != end.reported { action(TransferProgress(direction, bytes: bytes, total: bytes)) }
  }
}
