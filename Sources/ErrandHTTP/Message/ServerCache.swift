/// How one cache on the path of a response handled the request, from the field `Cache-Status` (RFC 9211).
///
/// ```swift
/// for cache in response.raw.serverCaches where cache.isHit {
///   print(cache.name, cache.secondsLeft ?? 0)  // CDN 545
/// }
/// ```
///
/// These are caches of the server's side, such as a CDN. ``ErrandCore/CallMetrics/cache`` describes the client's own
/// cache.
public struct ServerCache: Sendable, Hashable {
  /// The name of the cache, such as a host name or the name of a product.
  public let name: String
  /// True if the cache served a stored response without forwarding the request.
  public let isHit: Bool
  /// The reason why the cache forwarded the request (RFC 9211 section 2.2); nil if it did not, or gives no reason. The
  /// registered reasons are `bypass`, `method`, `uri-miss`, `vary-miss`, `miss`, `request`, `stale` and `partial`.
  public let forward: String?
  /// The status that the cache received for the forwarded request, such as 304; nil if it is not known or equals the
  /// status of the response.
  public let forwardStatus: Int?
  /// The seconds for which the response was still fresh in this cache. A negative number means a stale response. Nil if
  /// it is not known.
  public let secondsLeft: Int?
  /// Whether the cache stored the received response.
  public let isStored: Bool
  /// Whether the cache combined the request with others into one forwarded request.
  public let isCollapsed: Bool
  /// The cache's own name for the place of the stored response; nil if it sends none.
  public let key: String?
  /// What else the cache reports, such as `MEMORY`; nil if it reports nothing else.
  public let detail: String?

  /// Reads a member of the field; nil if the member is not a name.
  init?(_ member: StructuredField.Member) {
    guard let item = member.item, let name = item.value.text else { return nil }
    self.name = name
    let parameters = item.parameters
    isHit = parameters["hit"] == .boolean(true)
    forward = parameters["fwd"]?.text
    forwardStatus = parameters["fwd-status"].flatMap(Self.number)
    secondsLeft = parameters["ttl"].flatMap(Self.number)
    isStored = parameters["stored"] == .boolean(true)
    isCollapsed = parameters["collapsed"] == .boolean(true)
    key = parameters["key"]?.text
    detail = parameters["detail"]?.text
  }

  private static func number(_ value: StructuredField.Value) -> Int? {
    if case .integer(let number) = value { Int(exactly: number) } else { nil }
  }
}

extension HTTPResponse {
  /// The caches on the path of the response, from the field `Cache-Status` (RFC 9211): first the one nearest to the
  /// server, last the one nearest to the client. A response from the client's own cache has the caches of the exchange
  /// in which it was received. Empty if the field is absent or violates the grammar of a list of structured fields.
  public var serverCaches: [ServerCache] { fields.serverCaches }
}

extension HTTPFields {
  /// The caches on the path of the response with these fields: see ``HTTPResponse/serverCaches``.
  package var serverCaches: [ServerCache] {
    guard let members = try? StructuredField.list(values(of: "Cache-Status")) else { return [] }
    return members.compactMap(ServerCache.init)
  }
}
