import ErrandSupport
import ErrandCore

/// The keys that were made before: a digest costs more than all the rest of a hit.
///
/// Only plain requests are remembered, whose key is made of URL, method, model and account. What is compared is the
/// text, so nothing can be mistaken for something else.
final class KeyMemo: Sendable {
  private struct Question: Hashable, Sendable {
    let url: String
    let method: HTTPMethod
    let model: CachePolicy.Model
    let partition: CachePartition
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
    salt: Digest
  ) -> Made {
    let isPlain =
      request.body == nil && rule.headers.isEmpty && rule.leftOut.isEmpty
      && !request.fields.contains(.authorization) && !request.fields.contains(.cookie)
    guard isPlain else { return Self.make(request, model, rule, partition, salt) }
    let question = Question(
      url: request.url.string, method: request.method, model: model, partition: partition, salt: salt)
    if let found = known.withLock({ $0[question] }) { return found }
    let made = Self.make(request, model, rule, partition, salt)
    known.withLock { known in
      if known.count >= Self.most { known.removeAll() }
      known[question] = made
    }
    return made
  }

  private static func make(
    _ request: HTTPRequest, _ model: CachePolicy.Model, _ rule: CacheKeyRule, _ partition: CachePartition,
    _ salt: Digest
  ) -> Made {
    let recipe = CacheKeyRecipe(
      model: model, fields: rule.headers, leftOut: Array(rule.leftOut), partition: partition, salt: salt.bytes)
    return (recipe, recipe.key(for: request))
  }
}
