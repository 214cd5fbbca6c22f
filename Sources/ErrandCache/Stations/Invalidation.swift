import ErrandCore

/// Removes from every store what the success of an unsafe method makes worthless.
struct Invalidation {
  let cache: ResponseCache
  let context: CallContext
  let request: HTTPRequest

  /// Has everything removed that is stored for the URLs, whatever the method, the model and the folder.
  /// From a store that cannot be reached it is removed before anything is looked for in it.
  func remove(_ urls: [HTTPURL], _ remove: (CacheSelection, any CacheStore) -> Void) async {
    guard !urls.isEmpty else { return }
    // What was stored for every account is as worthless as what was stored for this one.
    let partitions = Set([context.partition(of: request), context.commonPartition])
    let leftOut = context.plan.cacheKey.leftOut
    let removals = urls.flatMap { url in
      partitions.map { RemovalDebts.Removal.target(url, leftOut: leftOut, $0) }
    }
    for opened in cache.opened {
      guard let salt = await cache.salt(of: opened, call: context.call, patience: Caching.saltPatience) else {
        opened.owe(removals)
        continue
      }
      for removal in removals { remove(removal.selection(salt: salt), opened.store) }
    }
  }
}
