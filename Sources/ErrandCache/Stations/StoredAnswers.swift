package import ErrandCore
package import Foundation

/// What a store keeps for a request, for people to look at.
package struct StoredAnswers: Sendable {
  /// One of the answers.
  package struct Answer: Sendable {
    /// All that is known of it but the body.
    package let listing: CacheListing
    /// The body.
    package let body: Data
  }

  /// The answers, most recently used first.
  package var answers: [Answer] = []
  /// Whether an answer to the same request is stored for somebody else.
  package var isElsewhere = false

  /// Makes an empty one.
  package init() {}
}

extension CacheStore {
  /// What is stored for a request, of any model and any age: for a plain GET everything for its URL and its account,
  /// otherwise the answers to this very request.
  ///
  /// - Parameters:
  ///   - request: The request as it is frozen.
  ///   - context: Whose it is, and how long it may be waited for.
  package func answers(to request: HTTPRequest, in context: CallContext) async -> StoredAnswers {
    var found = StoredAnswers()
    guard let salt = await salt(call: context.call) else { return found }
    let partition = context.partition(of: request)
    let keys = [CachePolicy.Model.lifetime, .http, .httpElse].map { model in
      CacheKeyRecipe(
        model: model, partition: partition, salt: salt.bytes, transport: context.plan.transportIdentity
      ).key(for: request)
    }
    let isPlain = request.method == .get && request.body == nil
    for listing in await list() {
      let isTheirs = keys.contains { isPlain ? $0.target == listing.key.target : $0 == listing.key }
      if isTheirs, let body = await body(of: listing, call: context.call) {
        found.answers.append(StoredAnswers.Answer(listing: listing, body: body))
      } else if !isTheirs, keys.contains(where: { $0.anyAccount == listing.key.anyAccount }) {
        found.isElsewhere = true
      }
    }
    return found
  }

  private func body(of listing: CacheListing, call: CallState) async -> Data? {
    let variant = listing.head.variant
    let found = await find(
      listing.key, choosing: { heads in heads.firstIndex { $0.variant == variant } }, call: call, patience: nil)
    if case .found(let entry) = found { return entry.body }
    return nil
  }
}
