public import ErrandCore

extension APIClient {
  /// The cache that the client uses now: to clear it, to list it, to see what it did; nil where there is none.
  public var cache: ResponseCache? { answerCache as? ResponseCache }

  /// Removes what is stored for a request and whoever is logged in, all variants of it. What is under way for it is
  /// not stored.
  ///
  /// The request goes down the line as far as it is frozen, so that filters and interceptors have their say; nothing
  /// is sent, and accessories hear nothing.
  /// - Throws: ``ErrandCore/APIError`` where the request cannot be built, or an interceptor refuses it.
  public func removeCached<R: APIRequest>(_ request: R) async throws(APIError) {
    guard let cache else { return }
    try await probing(request) { request, context in
      guard let plan = context.cache, let model = plan.policy(for: request).model else { return }
      let opened = cache.store(for: plan.request)
      guard let salt = await cache.salt(of: opened, call: context.call, patience: nil) else {
        return opened.owe([.target(request.url, leftOut: plan.key.leftOut, context.partition(of: request))])
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
