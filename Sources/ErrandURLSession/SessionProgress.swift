import ErrandHTTP

/// Limits the progress reports of a request body and a response body. The progress of each body is reported at most
/// once in 50 ms, and always at the end of the body.
struct SessionProgress: Sendable {
  private static let interval = Duration.milliseconds(50)

  private struct Line: Sendable {
    var due: MonotonicInstant?
    var reported: Int64 = -1
    var total: Int64?
  }

  private var lines: [TransferProgress.Direction: Line] = [:]

  /// A progress report; nil if the last report is too recent or nothing has changed.
  mutating func report(
    _ direction: TransferProgress.Direction, _ bytes: Int64, total: Int64?, at now: MonotonicInstant
  ) -> TransferProgress? {
    var line = lines[direction] ?? Line()
    if let due = line.due, now < due, bytes != total { return nil }
    guard bytes > line.reported else { return nil }
    line.due = now.advanced(by: Self.interval)
    (line.reported, line.total) = (bytes, total)
    lines[direction] = line
    return TransferProgress(direction, bytes: bytes, total: total)
  }

  /// The final progress report of a body; nil if this number of bytes was already reported as the total.
  mutating func finish(_ direction: TransferProgress.Direction, _ bytes: Int64) -> TransferProgress? {
    var line = lines[direction] ?? Line()
    guard line.reported != bytes || line.total != bytes else { return nil }
    (line.reported, line.total) = (bytes, bytes)
    lines[direction] = line
    return TransferProgress(direction, bytes: bytes, total: bytes)
  }
}
