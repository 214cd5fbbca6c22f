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
