/// Reports the progress of the request body and of the response body. The progress of each body is reported at most
/// once in 50 ms. The final number of bytes of each body is always reported, with the total.
///
/// A number that comes too early is kept. The engine calls ``reportWaiting(at:)`` at ``nextReport``, so that a body that
/// stands still does not show an old number. The transport on libcurl does not.
package struct ProgressReporter {
  private static let interval = Duration.milliseconds(50)

  private struct Line {
    var due: MonotonicInstant?
    var reported: (bytes: Int64, total: Int64?) = (-1, nil)
    /// The number of bytes that came before the next report was due, and the total.
    var waiting: (bytes: Int64, total: Int64?)?
  }

  private let action: @Sendable (TransferProgress) -> Void
  private var upload = Line()
  private var download = Line()

  package init(_ action: @escaping @Sendable (TransferProgress) -> Void) { self.action = action }

  package mutating func report(
    _ direction: TransferProgress.Direction, _ bytes: Int64, total: Int64?, at now: MonotonicInstant
  ) {
    var line = direction == .upload ? upload : download
    defer { if direction == .upload { upload = line } else { download = line } }
    guard line.reported != (bytes, total) else { return }
    if let due = line.due, now < due, bytes != total {
      line.waiting = (bytes, total)
      return
    }
    line = Line(due: now.advanced(by: Self.interval), reported: (bytes, total))
    action(TransferProgress(direction, bytes: bytes, total: total))
  }

  /// The time at which a number of bytes that came too early can be reported. Nil if there is none.
  package var nextReport: MonotonicInstant? {
    [upload, download].compactMap { $0.waiting == nil ? nil : $0.due }.min()
  }

  /// Reports the numbers of bytes that came too early, if their time has come.
  package mutating func reportWaiting(at now: MonotonicInstant) {
    if let (bytes, total) = upload.waiting { report(.upload, bytes, total: total, at: now) }
    if let (bytes, total) = download.waiting { report(.download, bytes, total: total, at: now) }
  }

  /// Drops the numbers of bytes that came too early, because the exchange begins again.
  package mutating func dropWaiting() { (upload.waiting, download.waiting) = (nil, nil) }

  /// Reports the final number of transferred bytes of a body as its total, unless this has already been reported.
  package mutating func finish(_ direction: TransferProgress.Direction, _ bytes: Int64) {
    let line = direction == .upload ? upload : download
    let end = Line(reported: (bytes, bytes))
    if direction == .upload { upload = end } else { download = end }
    if line.reported == end.reported { return }
    action(TransferProgress(direction, bytes: bytes, total: bytes))
  }
}
