public import ErrandCore

extension APIClient {
  /// The cache that the client currently uses; nil if the client has none. Use it to clear the cache, to list its
  /// entries and to read its statistics.
  public var cache: ResponseCache? { answerCache as? ResponseCache }

  /// Removes all stored variants of the response to a request, for the account that is currently logged in. Exchanges
  /// for this request that are in progress do not store their responses, and background refreshes of the response are
  /// cancelled.
  ///
  /// The request is built like a request that is sent: request filters and interceptors apply to it. But nothing is
  /// sent, and accessories are not notified.
  /// - Throws: ``ErrandCore/APIError`` if the request cannot be built, or if an interceptor rejects or answers it.
  public func removeCached<R: APIRequest>(_ request: R) async throws(APIError) {
    guard let cache else { return }
    try await inspect(request) { request, context in
      guard let plan = context.cache, let model = plan.policy(for: request).model else { return }
      let opened = cache.store(for: plan.request)
      guard let salt = await cache.salt(of: opened, call: context.call, patience: nil) else {
        return opened.record([.target(request.url, leftOut: plan.key.leftOut, context.partition(of: request))])
      }
      let cookies = context.cookies(for: request)
      let owner = context.owner(of: request, cookies: cookies)
      let made = cache.keys.key(
        for: context.keyed(request, owner: owner, cookies: cookies), model, plan.key,
        context.partition(of: request, owner: owner), transport: context.plan.transportIdentity, salt: salt)
      cache.remove(.key(made.key), from: opened.store)
    }
  }
}
