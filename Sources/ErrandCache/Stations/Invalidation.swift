import ErrandCore

/// Removes from every store what the success of an unsafe method makes worthless.
struct Invalidation {
  let cache: ResponseCache
  let context: CallContext
  let request: HTTPRequest

  /// Has everything removed that is stored for the URLs, whatever the method, the model and the folder.
  func remove(_ urls: [HTTPURL], _ remove: (CacheSelection, any CacheStore) -> Void) async {
    guard !urls.isEmpty else { return }
    for store in cache.opened {
      guard let salt = await store.salt(call: context.call) else { continue }
      let recipe = CacheKeyRecipe(
        model: .http, leftOut: leftOut, partition: context.partition(of: request), salt: salt.bytes)
      for url in urls { remove(.target(recipe.target(of: url)), store) }
    }
  }

  private var leftOut: [String] { Array(context.plan.cacheKey.leftOut) }
}
