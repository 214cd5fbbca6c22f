/// A cache as the client sees it: the stations that look up and store.
package protocol AnswerCache: AnyObject, Sendable {
  /// The station that looks up for a call: it stands below the redirects.
  var lookUp: any Interceptor { get }
  /// The station that acts on an exchange: it stands below the place where calls are joined.
  var storing: any Interceptor { get }
  /// Removes everything of an account.
  func removeAll(account: String) async
}

/// Which cache a client uses.
public struct CacheChoice: Sendable {
  package enum Kind: Sendable {
    case standard, off
    case own(any AnswerCache)
  }

  package let kind: Kind

  package init(_ kind: Kind) { self.kind = kind }

  /// A memory of 16 MiB, of this client alone. Nothing is written to a disk.
  public static let standard = CacheChoice(.standard)
  /// None: whatever requests declare, nothing is kept.
  public static let off = CacheChoice(.off)
}
