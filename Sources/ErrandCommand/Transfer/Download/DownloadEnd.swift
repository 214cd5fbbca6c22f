import Errand

/// How one download ended.
enum DownloadEnd: Sendable {
  /// The file is complete.
  case done(DownloadedFile)
  /// The file already existed with this many bytes, and was left unchanged.
  case there(Int64)
  /// The download failed; `kept` is the number of bytes that the next run need not fetch.
  case failed(APIError, kept: Int64)
  /// The user stopped the download.
  case stopped(kept: Int64)

  /// The number of bytes that are kept for the next run.
  var kept: Int64 {
    switch self {
    case .done, .there: 0
    case .failed(_, let kept), .stopped(let kept): kept
    }
  }

  /// The phase to display.
  ///
  /// - Parameter hasBegun: Whether any byte was received.
  func phase(hasBegun: Bool) -> ProgressState.Phase {
    let rest = kept > 0 ? ", \(Wording.bytes(kept)) kept" : hasBegun ? ", nothing kept" : ""
    return switch self {
    case .done, .there: .done
    // A response with a rejected status contains no bytes of the file.
    case .failed(let error, 0) where error.stage == .validate: .failed("failed")
    case .failed: .failed("failed\(rest)")
    case .stopped: .stopped("stopped\(rest)")
    }
  }
}
