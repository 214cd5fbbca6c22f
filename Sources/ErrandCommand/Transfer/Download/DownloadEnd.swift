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
  var phase: ProgressState.Phase {
    switch self {
    case .done, .there: .done
    case .failed(_, let kept): .failed("failed\(Self.words(kept))")
    case .stopped(let kept): .stopped("stopped\(Self.words(kept))")
    }
  }

  private static func words(_ kept: Int64) -> String { kept > 0 ? ", \(Wording.bytes(kept)) kept" : ", nothing kept" }
}
