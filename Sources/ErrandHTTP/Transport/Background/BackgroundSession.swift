public import Foundation

/// A session of the operating system that transfers files while the app is suspended or does not run.
/// `BackgroundDownloads` and `BackgroundUploads` use one session each.
///
/// The session identifies each transfer by the name with which it was started, and keeps the names when the process
/// ends. It reports events on its own thread, one after the other, and never while a method of the session is running.
/// The following test double reports no events. A test double can also store the closure `onEvent`, and call it with
/// the events that the test chooses.
/// ```swift
/// final class StillSession: BackgroundSession {
///   func begin(_ onEvent: @escaping @Sendable (BackgroundEvent) -> Void) {}
///   func start(_ order: BackgroundOrder) throws {}
///   func cancel(_ name: String) {}
///   func names() async -> Set<String> { [] }
/// }
/// ```
public protocol BackgroundSession: Sendable {
  /// Starts reporting events to `onEvent`, including earlier events that were not reported. Called once, before all
  /// other members.
  func begin(_ onEvent: @escaping @Sendable (BackgroundEvent) -> Void)
  /// Hands a transfer over to the system. A request with a body is an upload, and the body must be a whole file
  /// (``HTTPBody/filePath``). A request without a body is a download. Throws if the system rejects the transfer; the
  /// session then reports no event for this transfer.
  func start(_ order: BackgroundOrder) throws
  /// Cancels the transfer with this name. The session then reports the end of the transfer. Has no effect if the
  /// session has no running transfer with this name.
  func cancel(_ name: String)
  /// The names of the transfers that were handed over to the system and have not ended.
  func names() async -> Set<String>
}

/// A download or an upload that is handed over to a ``BackgroundSession``.
public struct BackgroundOrder: Sendable {
  /// The name by which the session identifies the transfer; not a secret.
  public let name: String
  /// The request, with its credential, cookies and signature. An upload has a body that is a whole file, and the file
  /// must exist until the transfer ends. A download has no body.
  public let request: HTTPRequest
  /// The networks that the transfer may use. The transfer always waits until such a network is available.
  public let network: NetworkWish

  /// Makes the description of one transfer.
  public init(name: String, request: HTTPRequest, network: NetworkWish = NetworkWish()) {
    self.name = name
    self.request = request
    self.network = network
  }
}

/// An event of a ``BackgroundSession``.
public enum BackgroundEvent: Sendable {
  /// Reports how many bytes of a transfer's body were received (download) or sent (upload). The total is nil if it is
  /// unknown.
  case progress(name: String, bytes: Int64, total: Int64?)
  /// A response of any status has arrived. The body is in `file`, which may be empty. The session deletes the file when
  /// `onEvent` returns, so `onEvent` must move a file that it needs. After redirects, `url` is the URL of the last
  /// request.
  case arrived(name: String, file: URL, head: ResponseHead, url: HTTPURL)
  /// A transfer has ended. The session reports no more events of this transfer.
  case ended(name: String, BackgroundEnd)
  /// All events that occurred while the app was suspended or did not run have been reported.
  case allReported
}

/// How a transfer in a ``BackgroundSession`` ended.
public enum BackgroundEnd: Sendable, Hashable {
  /// The transfer has ended with a response, and the session has already reported this response.
  case finished
  /// The transfer was cancelled, by ``BackgroundSession/cancel(_:)`` or by the system. The value is the reason that the
  /// system reports; nil if the system reports no reason.
  case cancelled(String?)
  /// The transfer failed, because no complete response arrived.
  case failed(TransportFailure)
}
