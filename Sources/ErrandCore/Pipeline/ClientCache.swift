/// A cache for a client. The cache supplies two interceptors: one looks up stored responses, and one stores responses.
package protocol ClientCache: AccountCache {
  /// The interceptor that looks up the stored response to a request. The interceptor runs for each request of a
  /// redirect chain.
  var lookUp: any Interceptor { get }
  /// The interceptor that stores or updates the response of an exchange. The interceptor runs only once for an exchange
  /// that several calls share.
  var storing: any Interceptor { get }

  /// Whether a background refresh is in progress.
  var isRefreshing: Bool { get }
  /// Waits until no background refresh is in progress.
  func refreshesEnded() async
  /// Cancels all background refreshes in progress.
  func cancelRefreshes()
  /// Waits until the pending writes have been carried out.
  func flush() async
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
  /// No cache: no response is stored, whatever cache policy the requests declare.
  public static let off = CacheChoice(.off)
}
