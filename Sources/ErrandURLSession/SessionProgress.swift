import ErrandHTTP

/// Says how far the bodies have come, at most once in 50 ms for each, and the last time in any case.
struct SessionProgress: Sendable {
  private static let interval = Duration.milliseconds(50)

  private struct Line: Sendable {
    var due: MonotonicInstant?
    var reported: Int64 = -1
  }

  private var lines: [TransferProgress.Direction: Line] = [:]

  /// A report, where one is due.
  mutating func report(
    _ direction: TransferProgress.Direction, _ bytes: Int64, total: Int64?, at now: MonotonicInstant
  ) -> TransferProgress? {
    var line = lines[direction] ?? Line()
    if let due = line.due, now < due, bytes != total { return nil }
    guard bytes > line.reported else { return nil }
    line.due = now.advanced(by: Self.interval)
    line.reported = bytes
    lines[direction] = line
    return TransferProgress(direction, bytes: bytes, total: total)
  }

  /// The last report of a body, unless it has been made.
  mutating func finish(_ direction: TransferProgress.Direction, _ bytes: Int64) -> TransferProgress? {
    var line = lines[direction] ?? Line()
    guard line.reported != bytes else { return nil }
    line.reported = bytes
    lines[direction] = line
    return TransferProgress(direction, bytes: bytes, total: bytes)
  }
}
