public import Foundation

/// A session of the system's that downloads and uploads while the app is suspended or does not run: the seam of
/// `BackgroundDownloads` and `BackgroundUploads`, each with a session of its own.
///
/// It knows transfers by the names that they were started with, and keeps these names with them over the end of the
/// process. It tells what happens on a thread of its own, one event after the other, and never from within a call to
/// it. A double for tests keeps the listener and tells what the test says:
///
/// ```swift
/// final class StillSession: BackgroundSession {
///   func begin(_ tell: @escaping @Sendable (BackgroundEvent) -> Void) {}
///   func start(_ order: BackgroundOrder) throws {}
///   func cancel(_ name: String) {}
///   func names() async -> Set<String> { [] }
/// }
/// ```
public protocol BackgroundSession: Sendable {
  /// Begins to tell, also what happened while nobody listened. Called once, before everything else.
  func begin(_ tell: @escaping @Sendable (BackgroundEvent) -> Void)
  /// Hands a transfer over to the system: an upload where the request has a body, which is a whole file then
  /// (``HTTPBody/filePath``), else a download. Throws where the system does not take it; nothing is told of it then.
  func start(_ order: BackgroundOrder) throws
  /// Ends a transfer; the end is told. No effect on one that the system does not have.
  func cancel(_ name: String)
  /// The names of the transfers that the system has and that have not ended.
  func names() async -> Set<String>
}

/// A download or an upload as it is handed over to a ``BackgroundSession``.
public struct BackgroundOrder: Sendable {
  /// What the session knows it by; no secret.
  public let name: String
  /// What is sent, with its credential, cookies and signature. The body of an upload is a whole file, which stays until
  /// the end; a download has none.
  public let request: HTTPRequest
  /// Which networks it may use. It waits for one in any case.
  public let network: NetworkWish

  /// Makes an order.
  public init(name: String, request: HTTPRequest, network: NetworkWish = NetworkWish()) {
    self.name = name
    self.request = request
    self.network = network
  }
}

/// What a ``BackgroundSession`` tells.
public enum BackgroundEvent: Sendable {
  /// How far a body is, in bytes: what came of a download, what was sent of an upload. The total is nil where nobody
  /// has said.
  case progress(name: String, bytes: Int64, total: Int64?)
  /// An answer is there, of whatever status, its body in a file, be it empty. The file is the session's: it is gone
  /// once the listener returns, unless the listener has moved it. The URL is the last one after redirects.
  case came(name: String, file: URL, head: ResponseHead, url: HTTPURL)
  /// A transfer is over; nothing more is told of it.
  case ended(name: String, BackgroundEnd)
  /// All is told that happened while the app was suspended or did not run.
  case allTold
}

/// How a transfer in a ``BackgroundSession`` ended.
public enum BackgroundEnd: Sendable, Hashable {
  /// Its answer was told before.
  case finished
  /// By ``BackgroundSession/cancel(_:)``, or by the system, which may say why in a clause.
  case cancelled(String?)
  /// No whole answer came.
  case failed(TransportFailure)
}
