/// A cache from the client's point of view: the interceptors for the lookup and for storing.
package protocol ClientCache: AccountCache {
  /// The interceptor that looks up the response to a request. It runs for each request of a redirect chain.
  var lookUp: any Interceptor { get }
  /// The interceptor that stores or updates the response of an exchange. It runs once for an exchange that several
  /// calls share.
  var storing: any Interceptor { get }
}

/// Which cache a client uses.
public struct CacheChoice: Sendable {
  package enum Kind: Sendable {
    case standard, off
    case own(any ClientCache)
  }

  package let kind: Kind

  package init(_ kind: Kind) { self.kind = kind }

  /// A cache of 16 MiB in memory that belongs to this client alone. Nothing is written to disk.
  public static let standard = CacheChoice(.standard)
  /// No cache: nothing is stored, whatever the requests declare.
  public static let off = CacheChoice(.off)
}
