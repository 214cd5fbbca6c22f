package import ErrandCore

/// What to do with a call, as far as the cache is concerned.
package enum CacheDecision: Sendable, Hashable {
  /// Answer with the stored answer, its body too, but for HEAD.
  case serve(CacheServing)
  /// Answer with this head of status 304 and no body: what the caller has is what is stored.
  case notModified(CacheServing)
  /// Ask the server about the stored answer.
  case validate(CacheValidation)
  /// Ask the server: nothing is stored that could be used.
  case fetch(CacheMiss)
  /// Ask the server and leave what is stored alone.
  case bypass(CacheBypass)
  /// Answer with ``CacheDecision/gatewayTimeout``: the request said `only-if-cached`.
  case gatewayTimeout(CacheMiss)
  /// Fail the call: it wanted a stored answer and nothing else.
  case fail(CacheMiss)

  /// The answer to `only-if-cached` where nothing can be served (RFC 9111 section 5.2.1.7).
  package static let gatewayTimeout = ResponseHead(
    status: 504, reason: "Gateway Timeout", fields: [.contentLength: "0"])
}

/// Why a call goes past what is stored.
package enum CacheBypass: String, Sendable, Hashable, CaseIterable {
  /// The request declares no policy, or the call neither reads nor stores.
  case disabled
  /// The call reads nothing, and its answer is stored.
  case ignored
  /// The method is not answered from a cache.
  case method
  /// A part of the body is wanted.
  case range
  /// The caller asks the server a question of its own.
  case conditional
}
