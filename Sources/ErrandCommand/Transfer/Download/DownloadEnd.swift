import Errand

/// How one download ended.
enum DownloadEnd: Sendable {
  /// The file is there.
  case done(DownloadedFile)
  /// The file was there before, with so many bytes, and was left alone.
  case there(Int64)
  /// It failed; with the bytes that the next run need not fetch.
  case failed(APIError, kept: Int64)
  /// It was ended by the user.
  case stopped(kept: Int64)

  /// The bytes that lie there for the next run.
  var kept: Int64 {
    switch self {
    case .done, .there: 0
    case .failed(_, let kept), .stopped(let kept): kept
    }
  }

  /// What is shown of it.
  ///
  /// - Parameter hasBegun: Whether any byte had come.
  func phase(hasBegun: Bool) -> ProgressState.Phase {
    let rest = kept > 0 ? ", \(Wording.bytes(kept)) kept" : hasBegun ? ", nothing kept" : ""
    return switch self {
    case .done, .there: .done
    // What came with a refusing status was no part of the file.
    case .failed(let error, 0) where error.stage == .validate: .failed("failed")
    case .failed: .failed("failed\(rest)")
    case .stopped: .stopped("stopped\(rest)")
    }
  }
}
