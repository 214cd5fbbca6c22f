import ErrandCore

/// What is done with a transfer in the background: functions of what its record says and what the system tells.
enum BackgroundDecision {
  typealias Phase = BackgroundPhase

  /// What is done with a record that an earlier process has left.
  enum Launch: Sendable, Hashable {
    /// The system has it.
    case wait
    /// The system does not have it; its end may still be told.
    case miss
    /// The system is asked once more to cancel it.
    case cancel
    /// Its file is checked and given its name.
    case check
    /// Its file is given its name.
    case place
    /// It is told that the file is there.
    case tellFile
    /// It is told that it failed.
    case tell(BackgroundFault)
    /// It is told that it was cancelled.
    case tellCancel
    /// It is told that the system has let go of it.
    case tellLoss
  }

  /// | record | the system has it | it does not |
  /// |---|---|---|
  /// | running | wait | miss |
  /// | missed | wait | tell the loss |
  /// | cancelling | cancel | tell the cancel |
  /// | came, with its file | check | check |
  /// | came, without | wait | miss |
  /// | placing, with its file | place | place |
  /// | placing, without: it has its name | tell the file | tell the file |
  /// | failed | tell | tell |
  static func atLaunch(_ phase: Phase, isListed: Bool, hasFile: Bool) -> Launch {
    switch phase {
    case .came where hasFile: .check
    case .running, .came: isListed ? .wait : .miss
    case .missed: isListed ? .wait : .tellLoss
    case .cancelling: isListed ? .cancel : .tellCancel
    case .placing: hasFile ? .place : .tellFile
    case .failed(let fault): .tell(fault)
    }
  }

  /// Whether a file is taken that the system brings: once, and only where somebody still wants it.
  static func takesFile(_ phase: Phase?) -> Bool {
    switch phase {
    case .running, .missed: true
    case nil, .came, .placing, .failed, .cancelling: false
    }
  }

  /// What is told where the system says that a transfer is over; nil where nothing is, or where it is told once the file
  /// is checked.
  static func failure(_ phase: Phase?, _ end: BackgroundEnd, of kind: BackgroundKind) -> APIError? {
    switch phase {
    case nil, .came, .placing, .failed: nil
    case .cancelling: .backgroundCancelled(kind)
    case .running, .missed:
      switch end {
      case .finished: .backgroundLost("the system brought no \(kind.product)", kind)
      case .cancelled(let words): .backgroundLost(words ?? "the system cancelled it", kind)
      case .failed(let failure): .mapping(failure, as: .transport)
      }
    }
  }

  /// What comes of a request for a file.
  enum HandOver: Sendable, Hashable {
    /// It is handed over.
    case start
    /// It is under way already.
    case join(String)
    /// It is handed over in place of one that the system does not have.
    case replace(String)
    /// Another download has the target, or is about to let go of it.
    case busy
  }

  /// Decides by the downloads that have not ended.
  static func handOver(
    _ wanted: BackgroundDownloadRecord, among records: some Sequence<BackgroundDownloadRecord>
  ) -> HandOver {
    guard let other = records.first(where: { $0.target == wanted.target && !$0.phase.hasFailed }) else { return .start }
    return switch other.phase {
    case .missed: .replace(other.id)
    case .running, .came, .placing: other.asksForSame(as: wanted) ? .join(other.id) : .busy
    case .cancelling, .failed: .busy
    }
  }

  static let followsNone = "follows no redirects, and the system follows them by itself"

  /// Why a download cannot be handed over; nil where it can.
  static func refusal(of download: Download, _ request: HTTPRequest, _ redirects: RedirectPolicy) -> String? {
    if request.body != nil { return "has a body; the system sends none with a download, `BackgroundUploads` does" }
    if !redirects.isFollowing { return followsNone }
    if download.bytesPerSecond != nil { return "has a limit of speed; leave `bytesPerSecond` out" }
    if download.bandwidth != nil { return "has a limit of speed; leave `bandwidth` out" }
    if download.freshURL != nil { return "has a `freshURL`, which nobody could ask once the app has ended" }
    if download.whenBusy == .wait { return "waits for another download of its file; leave `whenBusy` at `.fail`" }
    return nil
  }
}

extension BackgroundPhase {
  fileprivate var hasFailed: Bool { if case .failed = self { true } else { false } }
}

extension APIError {
  static func backgroundCancelled(_ kind: BackgroundKind) -> APIError {
    APIError(.cancelled, .cancelled, "The \(kind) was cancelled.")
  }

  static func backgroundLost(_ reason: String, _ kind: BackgroundKind) -> APIError {
    let cure =
      switch kind {
      case .download: "Start it again."
      case .upload: "The server may have it all the same: ask it, or start it again."
      }
    return APIError(.transfer, .interrupted, "The \(kind) did not end: \(reason). \(cure)")
  }
}
