import ErrandSupport
import ErrandCore

/// Remembers computed cache keys, because computing a digest takes longer than all other work for a cache hit.
///
/// Only the keys of plain requests are remembered: requests without a body and without a special rule for the key. The
/// key of a plain request depends on URL, method, cache model, account, secret fields and the identity of the
/// transport. All of these values are compared byte by byte, so two different requests never get the same key.
final class KeyMemo: Sendable {
  private struct Inputs: Hashable, Sendable {
    let url: HTTPURL
    let method: HTTPMethod
    let model: CachePolicy.Model
    let partition: CachePartition
    let secrets: [HTTPField]
    let transport: ByteText?
    let salt: Digest

    /// Hashes only the values that differ between most requests. The operator `==` compares all values.
    func hash(into hasher: inout Hasher) {
      hasher.combine(url)
      hasher.combine(partition)
    }
  }

  /// The key that was computed for a request, and the recipe with which it was computed.
  typealias Made = (recipe: CacheKeyRecipe, key: CacheKey)

  private static let most = 1_024

  private let known = Locked<[Inputs: Made]>([:])

  /// Returns the key of a request. The key of a plain request is computed only once.
  func key(
    for request: HTTPRequest, _ model: CachePolicy.Model, _ rule: CacheKeyRule, _ partition: CachePartition,
    transport: String?, salt: Digest
  ) -> Made {
    let isPlain = request.body == nil && rule.headers.isEmpty && rule.leftOut.isEmpty
    guard isPlain else { return Self.make(request, model, rule, partition, transport, salt) }
    let inputs = Inputs(
      url: request.url, method: request.method, model: model, partition: partition, secrets: request.fields.secrets,
      transport: transport.map { ByteText($0) }, salt: salt)
    if let found = known.withLock({ $0[inputs] }) { return found }
    let made = Self.make(request, model, rule, partition, transport, salt)
    known.withLock { known in
      if known.count >= Self.most { known.removeAll() }
      known[inputs] = made
    }
    return made
  }

  private static func make(
    _ request: HTTPRequest, _ model: CachePolicy.Model, _ rule: CacheKeyRule, _ partition: CachePartition,
    _ transport: String?, _ salt: Digest
  ) -> Made {
    let recipe = CacheKeyRecipe(
      model: model, fields: rule.headers, leftOut: Array(rule.leftOut), partition: partition, salt: salt.bytes,
      transport: transport)
    return (recipe, recipe.key(for: request))
  }
}
