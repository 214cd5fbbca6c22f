package import ErrandCore

/// The way to validate a stored response with the server.
package struct CacheValidation: Sendable, Hashable {
  /// The fields to add to the request that validates the stored response. They contain no conditional field if the
  /// stored response has no validator, such as an entity tag.
  package let fields: [HTTPField]
  /// The maximum staleness with which the response is served if the server fails.
  package let allowance: StaleAllowance
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
  /// No response arrived.
  case noResponse
  /// A response with this status arrived.
  case status(Int)

  /// Whether the failure allows the cache to serve a stored response (RFC 5861 section 4).
  var isServersFault: Bool {
    switch self {
    case .noResponse: true
    case .status(let status): status == 500 || (502...504).contains(status)
    }
  }
}
