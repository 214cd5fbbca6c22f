extension APIError {
  /// The error of a call that asked the cache alone.
  package static func cacheMiss(_ miss: CacheMiss) -> APIError {
    APIError(.cache, .cacheMiss, sentence(for: miss), cause: CacheMissError(miss: miss))
  }

  private static func sentence(for miss: CacheMiss) -> String {
    switch miss {
    case .disabled:
      "Nothing is kept for this request; declare a cache policy, and do not start the call without the cache."
    case .missing: "Nothing is stored for this request; load it once before asking the cache alone."
    case .unavailable: "The store of the cache could not be asked in time; see whether it works and can be reached."
    case .expired: "What is stored for this request has expired and its rules forbid to serve it."
    case .otherVersion: "What is stored for this request is of another version of its cache policy."
    case .otherAccount: "What is stored for this request belongs to another account."
    case .otherAppVersion: "What is stored for this request was stored by another version of the app."
    case .damaged: "What was stored for this request was damaged or is refused by its rules, and has been removed."
    }
  }
}

/// The reason in a form that the error can be asked for.
struct CacheMissError: Error {
  let miss: CacheMiss
}
