public import ErrandCore
import ErrandSupport
public import Foundation

extension APIClient {
  /// The cache that the client currently uses; nil if the client has none. Use it to clear the cache, to list its
  /// entries and to read its statistics.
  public var cache: ResponseCache? { answerCache as? ResponseCache }

  /// Removes all stored variants of the response to a request, for the account that is currently logged in. Exchanges
  /// for this request that are in progress do not store their responses, and background refreshes of the response are
  /// cancelled.
  ///
  /// In a ``ErrandCache/MemoryStore``, also removes the responses with `No-Vary-Search` under the same path, for all
  /// accounts, because their URLs may be equivalent.
  ///
  /// The request is built like a request that is sent: request filters and interceptors apply to it. But nothing is
  /// sent, and accessories are not notified.
  /// - Throws: ``ErrandCore/APIError`` if the request cannot be built, or if an interceptor rejects or answers it.
  public func removeCached<R: APIRequest>(_ request: R) async throws(APIError) {
    guard let cache else { return }
    try await inspect(request) { request, context in
      guard let plan = context.cache, let model = plan.policy(for: request).model else { return }
      let opened = cache.store(for: context.info.request)
      let equivalents = opened.groupsOfEquivalents(of: [request.url])
      if !equivalents.isEmpty { cache.remove(.groups(Set(equivalents)), from: opened.store) }
      guard let salt = await cache.salt(of: opened, call: context.call, patience: nil) else {
        let leftOut = Set(context.plan.cacheKey.leftOut.map { ByteText($0) })
        return opened.record([
          .target(request.url, leftOut: leftOut, context.partition(of: request).withoutSecrets)
        ])
      }
      let cookies = context.cookies(for: request)
      let owner = context.owner(of: request, cookies: cookies)
      let made = cache.keys.key(
        for: context.keyed(request, owner: owner, cookies: cookies), model,
        context.keyRule(context.plan.cacheKey, for: request, owner: owner),
        context.partition(of: request, owner: owner), transport: context.plan.access.transportIdentity, salt: salt)
      cache.remove(.key(made.key), from: opened.store)
    }
  }
}

extension CacheChoice {
  /// Uses a given cache, which several clients may share.
  public static func own(_ cache: ResponseCache) -> CacheChoice { CacheChoice(.own(cache)) }

  /// Uses a memory cache that belongs to this client alone.
  /// - Parameter limit: The maximum size in bytes.
  public static func memory(limit: Int) -> CacheChoice { .own(ResponseCache(store: MemoryStore(limit: limit))) }

  /// Uses a disk folder with a memory cache in front of it. To share the folder and the memory cache between clients,
  /// make one ``ErrandCache/ResponseCache`` and give it to each client.
  /// - Parameters:
  ///   - folder: The folder of the cache. It is created if it does not exist, and is private to the user. Several
  ///     processes may share it.
  ///   - limit: The maximum size of everything in the folder, in bytes.
  ///   - memory: The maximum size of the memory cache in front of the folder, in bytes.
  public static func disk(at folder: URL, limit: Int = 100 << 20, memory: Int = 16 << 20) -> CacheChoice {
    .own(ResponseCache(folder: folder, limit: limit, memory: memory))
  }
}
