import ErrandCore

/// How an ``OutboxRequest`` waits.
///
/// ```swift
/// var outbox: OutboxRule { .lane("note", noteID).supersedes().expires(after: .days(7)) }
/// ```
///
/// The rule is stored with the entry. A later version of the app with another rule does not change stored entries.
public struct OutboxRule: Sendable, Hashable {
  /// The parts of the lane; empty for the lane that all requests without a lane share; nil for a lane of its own.
  private(set) var laneParts: [String]? = []
  private(set) var supersedesQueued = false
  /// The stored names of the types that this request cancels out.
  private(set) var cancelledTypes: [String] = []
  private(set) var expiry = OutboxPeriod.days(30)
  private(set) var attemptLimit = 12
  private(set) var stopsLane = false
  private(set) var keyWindow = OutboxPeriod.hours(24)

  /// Makes the default rule: the common lane, 30 days until expiry, 12 attempts.
  public init() {}

  /// The lane of the request, such as `.lane("note", noteID)`. Entries of one lane and one account are sent one after
  /// the other, in the order in which they were added. Entries of different lanes do not wait for each other.
  public static func lane(_ parts: any CustomStringConvertible...) -> OutboxRule {
    var rule = OutboxRule()
    rule.laneParts = parts.map(\.description)
    return rule
  }

  /// The request has no order: it does not wait for other entries, and no other entry waits for it.
  public static let unordered = {
    var rule = OutboxRule()
    rule.laneParts = nil
    return rule
  }()

  /// The request replaces the entries of the same type at the end of its lane that are queued and were never sent.
  ///
  /// An entry is not replaced if it is being sent or may have been sent, if an entry of another type was added to the
  /// lane after it, or if another entry refers to it by an ``OutboxReference``. Nothing is replaced in the common lane of
  /// requests without a rule, because that is not the lane of one object.
  public func supersedes(sameLane: Bool = true) -> OutboxRule { with { $0.supersedesQueued = sameLane } }

  /// The request and a queued entry of one of the given types cancel out, for example a deletion and the creation of
  /// the same object. Nothing is sent then: both end as cancelled, together with the entries in between that belong to
  /// the object. These are:
  ///
  /// - If the request refers to the creation by an ``OutboxReference``: all entries that refer to it, too. If another
  ///   entry was added after the creation to its lane, or to the lane of the request, nothing is cancelled out.
  /// - Otherwise, if the request has a lane of one object, such as `.lane("note", noteID)`, with exactly one creation:
  ///   all entries that were added to the lane after the creation. The common lane of requests without a rule is not
  ///   the lane of one object.
  ///
  /// If one of these entries may have been sent, nothing is cancelled out. All entries are then sent in their order.
  public func cancelsOut(_ types: any OutboxRequest.Type...) -> OutboxRule {
    with { $0.cancelledTypes = types.map { $0.outboxType } }
  }

  /// The time after which the entry is not sent any more, from the moment at which it was added or, as a dead letter,
  /// resent or edited; 30 days by default. An entry that expires goes to the list of
  /// ``Outbox/deadLetters(after:limit:)``.
  public func expires(after period: OutboxPeriod) -> OutboxRule { with { $0.expiry = period } }

  /// The number of attempts after which the entry is rejected; 12 by default, at least 1. Attempts that could not reach
  /// the server do not count, nor do attempts that wait for a login. Attempts at which TLS failed count.
  public func attempts(_ limit: Int) -> OutboxRule { with { $0.attemptLimit = max(1, limit) } }

  /// The lane stops if this entry is rejected, parked or expires, or its fate is unknown, until the app resends or
  /// discards the entry. By default, the lane continues with the next entry.
  public func stopsLaneOnFailure(_ stops: Bool = true) -> OutboxRule { with { $0.stopsLane = stops } }

  /// How long the server remembers an idempotency key, from the first time that it may have received it; 24 hours by
  /// default. After this time an entry whose fate is unknown is not sent again, unless
  /// ``OutboxRequest/reconcile(in:)`` decides so.
  public func serverRemembersKeys(for period: OutboxPeriod) -> OutboxRule { with { $0.keyWindow = period } }

  private func with(_ change: (inout OutboxRule) -> Void) -> OutboxRule {
    var rule = self
    change(&rule)
    return rule
  }

  /// The stored text of the lane: the parts, percent-encoded and separated by slashes. A lane of its own has the
  /// idempotency key of the entry as its name.
  func lane(key: String) -> String {
    laneParts.map { $0.map(PercentEncoding.value).joined(separator: "/") } ?? "~" + key
  }
}

/// A period of an ``OutboxRule``.
public struct OutboxPeriod: Sendable, Hashable {
  /// The duration; nil for a period without an end.
  public let duration: Duration?

  /// A period of the given duration.
  public static func after(_ duration: Duration) -> OutboxPeriod { OutboxPeriod(duration: duration) }
  /// A period of seconds.
  public static func seconds(_ count: Int) -> OutboxPeriod { .after(.seconds(count)) }
  /// A period of minutes.
  public static func minutes(_ count: Int) -> OutboxPeriod { .after(count, units: 60) }
  /// A period of hours.
  public static func hours(_ count: Int) -> OutboxPeriod { .after(count, units: 3_600) }
  /// A period of days of 24 hours.
  public static func days(_ count: Int) -> OutboxPeriod { .after(count, units: 86_400) }
  /// A period without an end.
  public static let never = OutboxPeriod(duration: nil)

  /// A period of units with a length in seconds. A product that is too large is clamped.
  private static func after(_ count: Int, units length: Int) -> OutboxPeriod {
    let (seconds, isTooLarge) = count.multipliedReportingOverflow(by: length)
    return .seconds(isTooLarge ? (count < 0 ? .min : .max) : seconds)
  }

  /// The period in milliseconds, clamped to zero and 292 years; nil for a period without an end.
  var milliseconds: Int64? { duration.map { max(0, $0.clampedNanoseconds / 1_000_000) } }
}
