import ErrandCache
import ErrandCore
import ErrandHTTP

/// When a response was requested: it decides which delivered changes are laid over the response.
///
/// A stored response that was requested before a delivery lacks the change, so the change is kept for a while. Each
/// response says by itself whether it is older than the delivery. So the outbox need not notice when a newer response
/// is stored, by whichever call: it is shown as the server sent it.
enum ResponseMoment: Sendable, Equatable {
  /// The response comes from the cache. The time is that of its request, by the wall clock of the cache.
  case stored(WallTime)
  /// The response comes from the server, and was requested after the delivery of these entries.
  case live(after: Set<Int64>)

  /// The longest time for which the change of a delivered entry is kept, in milliseconds: one day, as long as its row
  /// by default. An app that is used reads its values again within that time, and the request must not stay on the
  /// device for long.
  static let longestAge: Int64 = 86_400_000
  /// The number of changes that are kept for each account, the latest ones: a value is patched with all of them.
  static let mostChanges = 1_000
  /// The number of further changes at which they are removed, all at once.
  static let surplus = 100

  /// Whether the change of an entry is laid over the response.
  /// - Parameters:
  ///   - delivered: The time at which the entry was delivered, by the wall clock of the cache; nil if it still waits.
  ///   - now: The present time, by the same clock.
  func lacks(_ entry: Int64, delivered: WallTime?, at now: WallTime) -> Bool {
    guard let delivered else { return true }
    switch self {
    case .live(let earlier): return !earlier.contains(entry)
    case .stored(let requested):
      // If the clock was set back after the delivery, the times cannot be compared.
      let age = delivered.milliseconds(to: now)
      return requested < delivered && age >= 0 && age <= Self.longestAge
    }
  }
}

extension ResponseMoment {
  /// - Parameter delivered: The entries that were delivered before the call began.
  init<Value: Sendable>(_ response: APIResponse<Value>, after delivered: Set<Int64>) {
    switch response.origin {
    case .cacheFresh, .cacheStale:
      // A part of a stored response does not say when it was requested. No delivered change is laid over it.
      self = .stored(WallTime(milliseconds: response.raw.hit?.requestTime ?? .max))
    case .network, .revalidated, .local: self = .live(after: delivered)
    }
  }
}
