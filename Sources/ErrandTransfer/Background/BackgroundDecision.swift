import ErrandCore

/// Decides about background transfers with pure functions of the record and of the events of the system.
enum BackgroundDecision {
  typealias Phase = BackgroundPhase

  /// What the library does at launch with a record from an earlier run.
  enum Launch: Sendable, Hashable {
    /// The system still runs the transfer: wait for its events.
    case wait
    /// The system does not list the transfer. Wait, because the end of the transfer may still be reported.
    case miss
    /// Ask the system again to cancel the transfer.
    case cancel
    /// Validate the received file and move it to the target.
    case check
    /// Move the validated file to the target.
    case place
    /// Report success: the file is already at the target.
    case tellFile
    /// Report the failure.
    case tell(BackgroundFault)
    /// Report the cancellation.
    case tellCancel
    /// Report that the system lost the transfer.
    case tellLoss
  }

  /// What to do at launch. The rows are the phases of ``BackgroundPhase`` in the record; "it" is the transfer.
  ///
  /// | record | the system lists it | the system does not list it |
  /// |---|---|---|
  /// | running | wait | miss |
  /// | missed | wait | report the loss |
  /// | cancelling | cancel | report the cancellation |
  /// | came, with its file | check | check |
  /// | came, without its file | wait | miss |
  /// | placing, with its file | place | place |
  /// | placing, without its file: it is at the target | report the file | report the file |
  /// | failed | report the failure | report the failure |
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

  /// Whether to accept a file from the system: only once for each transfer, and only while the app still wants it.
  static func takesFile(_ phase: Phase?) -> Bool {
    switch phase {
    case .running, .missed: true
    case nil, .came, .placing, .failed, .cancelling: false
    }
  }

  /// The error to report when the system ends a transfer. Nil if there is nothing to report, or if the received file
  /// must be checked first.
  static func failure(_ phase: Phase?, _ end: BackgroundEnd, of kind: BackgroundKind) -> APIError? {
    switch phase {
    case nil, .came, .placing, .failed: nil
    case .cancelling: .backgroundCancelled(kind)
    case .running, .missed:
      switch end {
      case .finished: .backgroundLost("the system delivered no \(kind.product)", kind)
      case .cancelled(let words): .backgroundLost(words ?? "the system cancelled it", kind)
      case .failed(let failure): .mapping(failure, as: .transport)
      }
    }
  }

  /// What happens to a new request for a background download.
  enum HandOver: Sendable, Hashable {
    /// Start a new download.
    case start
    /// Return the running download with this ID, which requests the same resource in the same way.
    case join(String)
    /// Start a new download in place of the one with this ID, which the system no longer has.
    case replace(String)
    /// Fail: another download uses the target, or is still being cancelled.
    case busy
  }

  /// Compares a new download with the records of the downloads that have not ended.
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

  static let followsNone = "follows no redirects, but the system always follows them"

  /// Why a download cannot run in the background; nil if it can. The text continues the sentence "a request that …".
  static func refusal(of download: Download, _ request: HTTPRequest, _ redirects: RedirectPolicy) -> String? {
    if request.body != nil { return "has a body; the system sends no body with a download, use `BackgroundUploads`" }
    if !redirects.isFollowing { return followsNone }
    if download.bytesPerSecond != nil { return "limits its speed; leave `bytesPerSecond` out" }
    if download.bandwidth != nil { return "limits its speed; leave `bandwidth` out" }
    if download.freshURL != nil { return "has a `freshURL`, which cannot be called after the app has ended" }
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
      case .upload: "The server may have received it anyway; ask the server before you start the upload again."
      }
    return APIError(.transfer, .interrupted, "The \(kind) did not end: \(reason). \(cure)")
  }
}
