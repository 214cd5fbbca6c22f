import Errand

/// How one download ended.
enum DownloadEnd: Sendable {
  /// The download succeeded, and the file is complete.
  case done(DownloadedFile)
  /// The file already existed with this many bytes, and was left unchanged.
  case alreadyComplete(Int64)
  /// The download failed; `kept` is the number of bytes that the next run need not fetch.
  case failed(APIError, kept: Int64)
  /// The user stopped the download.
  case stopped(kept: Int64)

  /// The number of bytes that are kept for the next run.
  var kept: Int64 {
    switch self {
    case .done, .alreadyComplete: 0
    case .failed(_, let kept), .stopped(let kept): kept
    }
  }

  /// The phase that is displayed for the ended download.
  ///
  /// - Parameter hasBegun: Whether any byte was received.
  func phase(hasBegun: Bool) -> ProgressState.Phase {
    let rest = kept > 0 ? ", \(Wording.bytes(kept)) kept" : hasBegun ? ", nothing kept" : ""
    return switch self {
    case .done, .alreadyComplete: .done
    // The response had a rejected status, so it contained no bytes of the file. The displayed text does not say
    // “nothing kept”, because there was nothing to keep.
    case .failed(let error, 0) where error.stage == .validate: .failed("failed")
    case .failed: .failed("failed\(rest)")
    case .stopped: .stopped("stopped\(rest)")
    }
  }
}
