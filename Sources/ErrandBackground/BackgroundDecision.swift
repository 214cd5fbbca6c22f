import ErrandCore

/// Pure functions that decide how to continue a background transfer. Their arguments are the saved record of the
/// transfer and the events of the system.
enum BackgroundDecision {
  typealias Phase = BackgroundPhase

  /// The action that the library takes at launch for a transfer that an earlier run of the app started.
  enum Launch: Sendable, Hashable {
    /// The system still performs the transfer. Wait for the events of the transfer.
    case wait
    /// The system does not list the transfer. Wait, because the system may still report the end of the transfer.
    case miss
    /// The app has cancelled the transfer, but the system still lists it. Ask the system again to cancel the transfer.
    case cancel
    /// The response file has arrived. Validate the file, and then finish the transfer.
    case check
    /// The downloaded file is valid. Move the file to the target path of the download.
    case place
    /// The downloaded file is already at its target path. Report the success to the app.
    case reportFile
    /// The transfer failed in an earlier run of the app. Report the failure to the app.
    case reportFailure(BackgroundFault)
    /// The cancelled transfer is no longer in the system's list. Report the cancellation to the app.
    case reportCancellation
    /// The system has lost the transfer. Report the loss to the app.
    case reportLoss
  }

  /// Decides what to do with a transfer at launch. The first column of the table is the ``BackgroundPhase`` in the
  /// saved record. The other columns contain the result, which is a case of ``Launch``. `hasFile` means that the
  /// response file is in the folder of the background transfers.
  ///
  /// | phase | the system lists the transfer | the system does not list the transfer |
  /// |---|---|---|
  /// | running | wait | miss |
  /// | missed | wait | report the loss |
  /// | cancelling | cancel | report the cancellation |
  /// | arrived, `hasFile` | check | check |
  /// | arrived, not `hasFile` | wait | miss |
  /// | placing, `hasFile` | place | place |
  /// | placing, not `hasFile`: the file is already at the target | report the file | report the file |
  /// | failed | report the failure | report the failure |
  static func atLaunch(_ phase: Phase, isListed: Bool, hasFile: Bool) -> Launch {
    switch phase {
    case .arrived where hasFile: .check
    case .running, .arrived: isListed ? .wait : .miss
    case .missed: isListed ? .wait : .reportLoss
    case .cancelling: isListed ? .cancel : .reportCancellation
    case .placing: hasFile ? .place : .reportFile
    case .failed(let fault): .reportFailure(fault)
    }
  }

  /// Whether to accept a response file from the system. A file is accepted only once for each transfer, and not after
  /// the app has cancelled the transfer.
  static func takesFile(_ phase: Phase?) -> Bool {
    switch phase {
    case .running, .missed: true
    case nil, .arrived, .placing, .failed, .cancelling: false
    }
  }

  /// The error to report when the system ends a transfer. Nil if there is nothing to report, or if the received file
  /// must be checked first.
  static func failure(_ phase: Phase?, _ end: BackgroundEnd, of kind: BackgroundKind) -> APIError? {
    switch phase {
    case nil, .arrived, .placing, .failed: nil
    case .cancelling: .backgroundCancelled(kind)
    case .running, .missed:
      switch end {
      case .finished: .backgroundLost("the system delivered no \(kind.product)", kind)
      case .cancelled(let words): .backgroundLost(words ?? "the system cancelled the \(kind)", kind)
      case .failed(let failure): .mapping(failure, as: .transport)
      }
    }
  }

  /// The decision about a new request for a background download.
  enum HandOver: Sendable, Hashable {
    /// No other download uses the target file. Start a new download.
    case start
    /// The download with this ID already requests the same resource in the same way. Return the handle of that
    /// download.
    case join(String)
    /// The system has lost the download with this ID. Start a new download in its place.
    case replace(String)
    /// Another download uses the same target file, or used it and is still being cancelled. The new download fails.
    case busy
  }

  /// Decides about a new download by comparing its record with the records of all downloads that have not ended.
  static func handOver(
    _ wanted: BackgroundDownloadState, among records: some Sequence<BackgroundDownloadState>
  ) -> HandOver {
    guard let other = records.first(where: { $0.target == wanted.target && !$0.phase.hasFailed }) else { return .start }
    return switch other.phase {
    case .missed: .replace(other.id)
    case .running, .arrived, .placing: other.asksForSame(as: wanted) ? .join(other.id) : .busy
    case .cancelling, .failed: .busy
    }
  }

  static let followsNone = "the request follows no redirects, but the system always follows them"

  /// The reason why a download cannot run in the background; nil if it can. The text completes the sentence "The
  /// request cannot become a background download: …".
  static func refusal(of download: Download, _ request: HTTPRequest, _ redirects: RedirectPolicy) -> String? {
    if request.body != nil {
      return "the request has a body; the system sends no body with a download, use `BackgroundUploads`"
    }
    if !redirects.isFollowing { return followsNone }
    if download.bytesPerSecond != nil { return "the request limits its speed; leave `bytesPerSecond` out" }
    if download.bandwidth != nil { return "the request limits its speed; leave `bandwidth` out" }
    if download.freshURL != nil {
      return "the request has a `freshURL`, which cannot be called after the app has ended"
    }
    if download.whenBusy == .wait {
      return "the request has `whenBusy: .wait`, which background downloads do not support; use `whenBusy: .fail`"
    }
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

  /// The error for a request that cannot be handed over to the system.
  static func backgroundRefused(_ reason: String, _ kind: BackgroundKind) -> APIError {
    APIError(.build, .unsupported, "The request cannot become a background \(kind): \(reason).")
  }

  static func backgroundLost(_ reason: String, _ kind: BackgroundKind) -> APIError {
    APIError(.transfer, .interrupted, "The \(kind) did not end: \(reason). \(kind.cure)")
  }

  /// The error for a response that did not arrive over https, although the request was sent over https.
  static func backgroundDowngrade(_ kind: BackgroundKind) -> APIError {
    APIError(
      .redirect, .redirectRefused,
      "The system followed a redirect from https to http, so the \(kind.product) was rejected. Use the https URL to "
        + "which the \(kind) should be redirected, or let the server redirect to https.")
  }

  /// The error for a response file with a wrong length. `expected` is the length that the server announced, or the
  /// length that the file had when it arrived.
  static func backgroundLength(_ length: Int64, insteadOf expected: Int64, _ kind: BackgroundKind) -> APIError {
    APIError(
      .transfer, .interrupted,
      "The \(kind) failed: its \(kind.product) has \(length) bytes instead of \(expected). \(kind.cure)")
  }
}
