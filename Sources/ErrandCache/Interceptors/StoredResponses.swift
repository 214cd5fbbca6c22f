package import ErrandCore
package import Foundation

/// The stored responses to one request, for display.
package struct StoredResponses: Sendable {
  package struct Response: Sendable {
    /// The status, the fields and the cache data of the response, without its body.
    package let listing: CacheListing
    package let body: Data
  }

  /// The responses, most recently used first.
  package var responses: [Response] = []
  /// Whether a response to an equal request is stored for another account.
  package var isElsewhere = false

  /// Makes a value without responses.
  package init() {}
}

extension CacheKey {
  /// Whether both keys are of one URL and one owner. Without an account, the secret fields identify the owner, and they
  /// are not part of the target.
  fileprivate func hasSameURLAndOwner(as other: CacheKey) -> Bool {
    target == other.target && account == other.account
  }

  /// Whether both keys identify the same request of different accounts.
  fileprivate func isOfOtherAccount(than other: CacheKey) -> Bool {
    anyAccount == other.anyAccount && account != other.account
  }
}

extension CacheStore {
  /// Returns the stored responses to a request, of any cache model and any age. For a GET request without a body, the
  /// result contains all responses with its URL and account. For any other request, the result contains only responses
  /// to an identical request.
  ///
  /// - Parameters:
  ///   - request: The request as it reaches the cache.
  ///   - context: The context that determines the account and the deadline.
  package func responses(to request: HTTPRequest, in context: CallContext) async -> StoredResponses {
    var found = StoredResponses()
    guard let salt = await salt(call: context.call) else { return found }
    let partition = context.partition(of: request)
    let keys = [CachePolicy.Model.lifetime, .http, .httpElse].map { model in
      CacheKeyRecipe(
        model: model, partition: partition, salt: salt.bytes, transport: context.plan.access.transportIdentity
      ).key(for: request)
    }
    let isPlain = request.method == .get && request.body == nil
    for listing in await list() {
      let isTheirs = keys.contains { isPlain ? $0.hasSameURLAndOwner(as: listing.key) : $0 == listing.key }
      if isTheirs, let body = await body(of: listing, call: context.call) {
        found.responses.append(StoredResponses.Response(listing: listing, body: body))
      } else if !isTheirs, keys.contains(where: { $0.isOfOtherAccount(than: listing.key) }) {
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
