public import Foundation

/// A session of the operating system that transfers files while the app is suspended or does not run.
/// `BackgroundDownloads` and `BackgroundUploads` use one session each.
///
/// The session identifies each transfer by the name with which it was started, and keeps the names when the process
/// ends. It reports events on its own thread, one after the other, and never during a call to the session. A test
/// double stores the closure `tell` and calls it with the events that the test chooses:
/// ```swift
/// final class StillSession: BackgroundSession {
///   func begin(_ tell: @escaping @Sendable (BackgroundEvent) -> Void) {}
///   func start(_ order: BackgroundOrder) throws {}
///   func cancel(_ name: String) {}
///   func names() async -> Set<String> { [] }
/// }
/// ```
public protocol BackgroundSession: Sendable {
  /// Starts reporting events to `tell`, including earlier events that were not reported. Called once, before all other
  /// members.
  func begin(_ tell: @escaping @Sendable (BackgroundEvent) -> Void)
  /// Hands a transfer over to the system. A request with a body is an upload, and the body must be a whole file
  /// (``HTTPBody/filePath``). A request without a body is a download. Throws if the system rejects the transfer; no
  /// event is reported for it then.
  func start(_ order: BackgroundOrder) throws
  /// Cancels a transfer. The session then reports the end of the transfer. Has no effect if the system does not have
  /// the transfer.
  func cancel(_ name: String)
  /// The names of the transfers that the system has and that have not ended.
  func names() async -> Set<String>
}

/// A download or an upload that is handed over to a ``BackgroundSession``.
public struct BackgroundOrder: Sendable {
  /// The name by which the session identifies the transfer; not a secret.
  public let name: String
  /// The request, with its credential, cookies and signature. An upload has a body that is a whole file, and the file
  /// must exist until the transfer ends. A download has no body.
  public let request: HTTPRequest
  /// The networks that the transfer may use. The transfer always waits until one is available.
  public let network: NetworkWish

  /// Makes an order.
  public init(name: String, request: HTTPRequest, network: NetworkWish = NetworkWish()) {
    self.name = name
    self.request = request
    self.network = network
  }
}

/// An event of a ``BackgroundSession``.
public enum BackgroundEvent: Sendable {
  /// The progress of a body in bytes: received for a download, sent for an upload. The total is nil if it is unknown.
  case progress(name: String, bytes: Int64, total: Int64?)
  /// A response of any status has arrived. The body is in the file, which may be empty. The session deletes the file
  /// when `tell` returns, so `tell` must move a file that it needs. The URL is the last one after redirects.
  case came(name: String, file: URL, head: ResponseHead, url: HTTPURL)
  /// A transfer has ended; no more events about it follow.
  case ended(name: String, BackgroundEnd)
  /// All events that occurred while the app was suspended or did not run have been reported.
  case allTold
}

/// How a transfer in a ``BackgroundSession`` ended.
public enum BackgroundEnd: Sendable, Hashable {
  /// The transfer has ended and its response has been reported.
  case finished
  /// The transfer was cancelled, by ``BackgroundSession/cancel(_:)`` or by the system. The system may give a reason.
  case cancelled(String?)
  /// No complete response arrived.
  case failed(TransportFailure)
}
