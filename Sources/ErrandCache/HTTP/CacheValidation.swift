package import ErrandCore

/// How to ask the server about a stored answer.
package struct CacheValidation: Sendable, Hashable {
  /// The fields to add to the request; the conditionals are missing where the answer has no validator.
  package let fields: [HTTPField]
  /// What may be done when the server fails.
  package let allowance: StaleAllowance
}

/// How stale an answer may be when it is served because the server cannot be reached or fails.
package enum StaleAllowance: Sendable, Hashable {
  /// It is not served.
  case none
  /// By so many milliseconds at most.
  case upTo(milliseconds: Int64)
  /// However stale it is.
  case anyAge
}

/// How the server failed.
package enum CacheFailure: Sendable, Hashable {
  /// No answer came.
  case noAnswer
  /// An answer came, with this status.
  case status(Int)

  /// Whether it is one that a stored answer may stand in for (RFC 5861 section 4).
  var isServersFault: Bool {
    switch self {
    case .noAnswer: true
    case .status(let status): status == 500 || (502...504).contains(status)
    }
  }
}
