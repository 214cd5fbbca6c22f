import ErrandCache

/// The stored facts of an entry, without its request. All times are those of the outbox, see ``OutboxTime``.
struct EntryFacts: Sendable, Equatable {
  var id: Int64
  var type: String
  var version: Int
  /// The account, compared byte by byte; empty if no account was logged in.
  var account: String
  /// The stored text of the lane.
  var lane: String
  /// The idempotency key.
  var key: String
  var isSealed = false
  var state = OutboxState.queued
  var reason: OutboxReason?
  /// The number of attempts that count for the limit.
  var attempts = 0
  /// The number of failed attempts in a row, including those that do not count. It determines the back-off.
  var failures = 0
  var conflicts = 0
  /// The number of entries that must be delivered before this one can be sent.
  var waits = 0
  var added: WallTime
  var notBefore: WallTime
  var expires: WallTime?
  /// The start of the attempt that is running.
  var began: WallTime?
  /// The start of the first attempt whose fate is unknown.
  var unknownSince: WallTime?
  /// How long the request may be sent again after `unknownSince`, in milliseconds; 0 for never, nil for always.
  var window: Int64?
  var attemptLimit = 12
  var stopsLane = false
  /// The end of the entry; nil while it is queued or sent.
  var ended: WallTime?

  /// The time at which the entry holds back until an event wakes it, such as a new version of the app.
  static let held = WallTime(milliseconds: .max)

  /// Whether the server may have forgotten the key, so that sending the request again might repeat it. The last tenth
  /// of the window, at most five minutes, is left for the way to the server.
  func isForgotten(at now: WallTime) -> Bool {
    guard let unknownSince, let window else { return false }
    return now >= unknownSince.advanced(byMilliseconds: window - min(window / 10, 300_000))
  }

  /// Whether the next entry of the lane must wait for this entry.
  var blocksLane: Bool {
    switch state {
    case .queued, .sending: true
    case .delivered, .cancelled: false
    case .rejected, .parked, .unknown, .expired: stopsLane
    }
  }

  /// Whether the server has certainly not received the request. Only such an entry may be replaced or changed.
  var isUntouched: Bool { state == .queued && unknownSince == nil }
}
