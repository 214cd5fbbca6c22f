#if os(Linux)
  import ErrandHTTP

  /// Reports how far the bodies have come, at most once in 50 ms for each, and the last time in any case.
  struct CurlProgress {
    private static let interval = Duration.milliseconds(50)

    private struct Line {
      var due: MonotonicInstant?
      var reported: Int64 = -1
    }

    private let action: @Sendable (TransferProgress) -> Void
    private var upload = Line()
    private var download = Line()

    init(_ action: @escaping @Sendable (TransferProgress) -> Void) { self.action = action }

    mutating func report(
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

    /// The last report of a body, unless it has been made.
    mutating func finish(_ direction: TransferProgress.Direction, _ bytes: Int64) {
      let line = direction == .upload ? upload : download
      if line.reported == bytes { return }
      if direction == .upload { upload.reported = bytes } else { download.reported = bytes }
      action(TransferProgress(direction, bytes: bytes, total: bytes))
    }
  }
#endif
