import ErrandSupport
import ErrandCore

/// The keys that were made before: a digest costs more than all the rest of a hit.
///
/// Only plain requests are remembered, whose key is made of URL, method, model, account, secret fields and the identity of
/// the transport. What is compared is the bytes of all of them, so nothing can be mistaken for something else.
final class KeyMemo: Sendable {
  private struct Question: Hashable, Sendable {
    let url: HTTPURL
    let method: HTTPMethod
    let model: CachePolicy.Model
    let partition: CachePartition
    let secrets: [HTTPField]
    let transport: ByteText?
    let salt: Digest

    /// What seldom differs is left to the comparison.
    func hash(into hasher: inout Hasher) {
      hasher.combine(url)
      hasher.combine(partition)
    }
  }

  /// A recipe and the key that it gave.
  typealias Made = (recipe: CacheKeyRecipe, key: CacheKey)

  private static let most = 1_024

  private let known = Locked<[Question: Made]>([:])

  /// The key of a request, from memory where it is a plain one.
  func key(
    for request: HTTPRequest, _ model: CachePolicy.Model, _ rule: CacheKeyRule, _ partition: CachePartition,
    transport: String?, salt: Digest
  ) -> Made {
    let isPlain = request.body == nil && rule.headers.isEmpty && rule.leftOut.isEmpty
    guard isPlain else { return Self.make(request, model, rule, partition, transport, salt) }
    let question = Question(
      url: request.url, method: request.method, model: model, partition: partition, secrets: request.fields.secrets,
      transport: transport.map { ByteText($0) }, salt: salt)
    if let found = known.withLock({ $0[question] }) { return found }
    let made = Self.make(request, model, rule, partition, transport, salt)
    known.withLock { known in
      if known.count >= Self.most { known.removeAll() }
      known[question] = made
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
