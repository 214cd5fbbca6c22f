public import ErrandCache

/// An entry of an ``Outbox``, as a value.
public struct OutboxEntry: Sendable, Hashable, Identifiable {
  /// The number of an entry. A later entry has a greater number; no number is used twice in a folder.
  public struct ID: RawRepresentable, Sendable, Hashable, Comparable, Codable, CustomStringConvertible {
    /// The number.
    public let rawValue: Int64
    /// Makes an identifier from a number.
    public init(rawValue: Int64) { self.rawValue = rawValue }
    /// The number as text.
    public var description: String { "\(rawValue)" }
    /// Orders entries by the order in which they were added.
    public static func < (left: ID, right: ID) -> Bool { left.rawValue < right.rawValue }
  }

  /// The number of the entry.
  public let id: ID
  /// The name of the request's type; empty if the row of a damaged entry cannot be read.
  public let type: String
  /// The version of the request's stored form.
  public let version: Int
  /// The account for which the request is sent; nil if no account was logged in when it was added.
  public let account: String?
  /// The lane: its parts, percent-encoded and separated by slashes.
  public let lane: String
  /// The state.
  public let state: OutboxState
  /// The reason for the state, or for the last failed attempt; nil if there is none.
  public let reason: OutboxReason?
  /// The number of attempts that count for the limit of the rule.
  public let attempts: Int
  /// The time at which the entry was added; zero if the row of a damaged entry cannot be read. All times are those of
  /// the outbox, whose clock goes back only while no entry waits.
  public let added: WallTime
  /// The time before which the entry is not sent again.
  public let notBefore: WallTime
  /// The time after which the entry is not sent any more; nil if it does not expire.
  public let expires: WallTime?
  /// True if the server may have received the request, and whether it carried it out is unknown.
  public let mayHaveBeenSent: Bool
  /// The idempotency key.
  public let key: String
  /// True if the stored request is sealed.
  public let isSealed: Bool

  /// Makes the value of stored facts, in which an empty account means that no account was logged in.
  init(_ facts: EntryFacts) {
    id = ID(rawValue: facts.id)
    type = facts.type
    version = facts.version
    account = facts.account.isEmpty ? nil : facts.account
    lane = facts.lane
    state = facts.state
    reason = facts.reason
    attempts = facts.attempts
    added = facts.added
    notBefore = facts.notBefore
    expires = facts.expires
    mayHaveBeenSent = facts.unknownSince != nil || facts.state == .sending
    key = facts.key
    isSealed = facts.isSealed
  }
}

/// The end of an entry.
public struct OutboxOutcome<Value: Sendable>: Sendable {
  /// The final state.
  public let state: OutboxState
  /// The value of the response. Nil if the entry was not delivered, or if another process or an earlier run delivered
  /// it.
  public let value: Value?
  /// The reason for the state; nil if the entry was delivered.
  public let reason: OutboxReason?

  /// True if the server accepted the request.
  public var isDelivered: Bool { state == .delivered }
}

/// The stored facts of an entry, without its request. All times are those of the outbox, see ``OutboxTime``.
struct EntryFacts: Sendable, Equatable {
  var id: Int64
  var type: String
  var version: Int
  /// The account, compared byte by byte; empty if no account was logged in.
  var account: String
  /// The stored text of the lane.
  var lane: String
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
  /// The end of a delivered or cancelled entry. For any other entry, the time at which the app has resent it, from
  /// which its expiry counts; nil if the expiry counts from ``added``.
  var ended: WallTime?
  /// The time of the delivery, as long as the request is kept for its change; nil otherwise. It is a time of the wall
  /// clock of the cache, not of the outbox, because it is compared with the times of stored responses.
  var kept: WallTime?

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
