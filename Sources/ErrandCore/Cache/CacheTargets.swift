/// The requests under whose cache keys the response of a request is stored.
///
/// ```swift
/// var cachedAs: CacheTargets { [GetUser(id: id)] }                       // only as the response to `GetUser`
/// var cachedAs: CacheTargets { .own.and(GetUser(id: id), GetProfile()) } // also as the response to this request
/// ```
///
/// Under each key the response is stored by the cache policy of the request of that key. The empty list stores nothing.
public struct CacheTargets: Sendable, ExpressibleByArrayLiteral {
  /// The other requests.
  let requests: [any APIRequest]
  /// Whether the response is also stored under the key of the request itself.
  package let includesOwn: Bool

  /// The response is stored under the key of the request itself.
  public static let own = CacheTargets(requests: [], includesOwn: true)

  /// The response is stored under the keys of these requests, and not under the key of the request itself.
  public init(arrayLiteral elements: any APIRequest...) { self.init(requests: elements, includesOwn: false) }

  private init(requests: [any APIRequest], includesOwn: Bool) {
    self.requests = requests
    self.includesOwn = includesOwn
  }

  /// Returns targets that contain further requests.
  public func and(_ others: any APIRequest...) -> CacheTargets {
    CacheTargets(requests: requests + others, includesOwn: includesOwn)
  }
}
