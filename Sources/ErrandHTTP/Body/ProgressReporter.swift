/// Reports the progress of the request body and of the response body. The progress of each body is reported at most
/// once in 50 ms. The final number of bytes of each body is always reported.
package struct ProgressReporter {
  private static let interval = Duration.milliseconds(50)

  private struct Line {
    var due: MonotonicInstant?
    var reported: Int64 = -1
  }

  private let action: @Sendable (TransferProgress) -> Void
  private var upload = Line()
  private var download = Line()

  package init(_ action: @escaping @Sendable (TransferProgress) -> Void) { self.action = action }

  package mutating func report(
    _ direction: TransferProgress.Direction, _ bytes: Int64, total: Int64?, at now: MonotonicInstant
  ) {
    var line = direction == .upload ? upload : download
    if let due = line.due, now < due, bytes != total { return }
    guard line.reported != bytes else { return }
    line.due = now.advanced(by: Self.interval)
    line.reported = bytes
    if direction == .upload { upload = line } else { download = line }
    action(TransferProgress(direction, bytes: bytes, total: total))
  }

  /// Reports the final number of transferred bytes of a body, unless this number has already been reported.
  package mutating func finish(_ direction: TransferProgress.Direction, _ bytes: Int64) {
    let line = direction == .upload ? upload : download
    if line.reported == bytes { return }
    if direction == .upload { upload.reported = bytes } else { download.reported = bytes }
    action(TransferProgress(direction, bytes: bytes, total: bytes))
  }
}
