/// Whether an answer is stored, and how.
package enum StoringDecision: Sendable, Hashable {
  /// Under the request's own key.
  case store(CacheEntryHead)
  /// Under the key of a GET for the same URL, without a body (RFC 9110 section 9.3.3).
  case storeForGet(CacheEntryHead)
  /// Not at all.
  case refuse(StoringRefusal)
}

/// Why an answer is not stored.
package enum StoringRefusal: String, Sendable, Hashable, CaseIterable {
  /// The request declares no policy, or the call stores nothing.
  case disabled
  /// The request or the answer says `no-store`.
  case noStore = "no-store"
  /// Its method's answers are not stored.
  case method
  /// A part was asked for, or a part came.
  case partial
  /// The body was cut short.
  case incomplete
  /// The status is none that is stored, is not understood, or is not what the caller accepts.
  case status
  /// It varies by what nobody here knows.
  case varies
}
