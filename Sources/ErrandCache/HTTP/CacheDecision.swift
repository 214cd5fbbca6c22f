package import ErrandCore

/// The decision of the cache about a call.
package enum CacheDecision: Sendable, Hashable {
  /// Serve the stored response. The body is left out if the request method is HEAD.
  case serve(CacheServing)
  /// Serve a 304 response without a body, because the caller already has the stored response.
  case notModified(CacheServing)
  /// Validate the stored response with the server.
  case validate(CacheValidation)
  /// Send the request to the server, because no stored response can be used.
  case fetch(CacheMiss)
  /// Send the request to the server. Stored responses are not read.
  case bypass(CacheBypass)
  /// Serve the response ``CacheDecision/gatewayTimeout``, because the request has `only-if-cached` and no stored
  /// response can be served.
  case gatewayTimeout(CacheMiss)
  /// Fail the call, because it accepts only a stored response.
  case fail(CacheMiss)

  /// Whether the decision serves a stored response and no request follows, not even in the background.
  var servesWithoutServer: Bool {
    switch self {
    case .serve(let serving), .notModified(let serving): !serving.refreshes
    case .validate, .fetch, .bypass, .gatewayTimeout, .fail: false
    }
  }

  /// The response to a request with `only-if-cached` if no stored response can be served (RFC 9111 section 5.2.1.7).
  package static let gatewayTimeout = ResponseHead(
    status: 504, reason: "Gateway Timeout", fields: [.contentLength: "0"])
}

/// The reason why a call does not read stored responses.
package enum CacheBypass: String, Sendable, Hashable, CaseIterable {
  /// The request declares no cache policy, or the call neither reads from the cache nor stores in it.
  case disabled
  /// The call does not read from the cache, but its response is stored.
  case ignored
  /// Responses to requests with this HTTP method are not served from the cache.
  case method
  /// The request asks for a byte range.
  case range
  /// The request carries its own condition, such as `If-None-Match`.
  case conditional
}

/// A stored response that may be served, and the reason for serving it.
package struct CacheServing: Sendable, Hashable {
  /// The reason why a stored response may be served.
  package enum Reason: String, Sendable, Hashable {
    /// The stored response is fresh.
    case fresh
    /// The stored response is stale, but the server allows caches to serve it while they refresh it.
    case staleWhileRevalidate = "stale-while-revalidate"
    /// The stored response is stale, or the request's `max-age` or `min-fresh` excludes it, but the request's
    /// `max-stale` allows it.
    case staleAllowed = "max-stale"
    /// The stored response is fresh, but its `no-cache` requires a validation. The call accepts a stored response of
    /// any age without a validation.
    case unvalidated = "no-cache"
    /// The stored response is stale, and the call accepts a stored response of any age.
    case anyAge = "any-age"
    /// The stored response is served because the server failed or could not be reached.
    case staleIfError = "stale-if-error"
  }

  /// The reason why the stored response may be served.
  package let reason: Reason
  /// The head (status and fields) to serve, with the current `Age`.
  package let head: ResponseHead
  /// The freshness of the stored response.
  package let freshness: Freshness

  package var isFresh: Bool { freshness.isFresh && reason != .staleIfError }

  /// Whether a background refresh must be started when the stored response is served.
  package var refreshes: Bool { reason == .staleWhileRevalidate }
}

/// The way to validate a stored response with the server.
package struct CacheValidation: Sendable, Hashable {
  /// The fields to add to the request that validates the stored response. They contain no conditional field if the
  /// stored response has no validator, such as an entity tag.
  package let fields: [HTTPField]
  /// The maximum staleness with which the response is served if the server fails.
  package let allowance: StaleAllowance

  /// Whether the request has a condition, so that the server can confirm the stored response.
  var isConditional: Bool { fields.contains { CacheRules.conditions.contains($0.name) } }
}

/// The longest staleness with which a response is served if the server fails or cannot be reached.
package enum StaleAllowance: Sendable, Hashable {
  /// A stale response must not be served.
  case none
  /// A response may be served that has been stale for at most this many milliseconds.
  case upTo(milliseconds: Int64)
  /// A response may be served however stale it is.
  case anyAge
}

/// The way in which the server failed.
package enum CacheFailure: Sendable, Hashable {
  case noResponse
  /// A response with this status arrived.
  case status(Int)

  var status: Int? { if case .status(let status) = self { status } else { nil } }

  /// Whether the failure allows the cache to serve a stored response (RFC 5861 section 4).
  var isServersFault: Bool {
    switch self {
    case .noResponse: true
    case .status(let status): status == 500 || (502...504).contains(status)
    }
  }
}
