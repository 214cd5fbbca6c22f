public import Foundation

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
