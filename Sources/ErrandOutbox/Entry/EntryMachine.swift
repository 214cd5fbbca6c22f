import ErrandCache

/// An event in the life of an entry.
enum EntryEvent: Sendable, Equatable {
  /// An attempt begins.
  case attempt
  /// The process that sent the entry has ended, and its attempt has no known result.
  case interrupted
  /// An attempt has ended. The number from 0 to 1 is a random number for the back-off.
  case attempted(SendVerdict, chance: Double)
  /// The app has decided about a conflict.
  case resolved(ConflictDecision)
  /// The server may have forgotten the key, and the app has determined the fate.
  case reconciled(OutboxFate)
  /// The entry cannot be handled now, for example because the app could not determine the fate. The reason is nil if
  /// the last one stays.
  case postponed(OutboxReason?, chance: Double)
  /// The time of the entry has passed.
  case expire
  /// The stored request cannot be sent by this process. If `waits` is true, another version of the app may be able to.
  case unreadable(OutboxReason, waits: Bool)
  /// The app cancels the entry.
  case cancel
  /// The entry is replaced, cancelled out or discarded while it is certainly not sent.
  case remove(OutboxReason)
  /// The app discards a dead letter.
  case discard
  /// The app resends a dead letter.
  case resend
  /// The app replaces the request of an entry that the server has certainly not carried out.
  case edit
  /// An entry on which this entry depends failed for good.
  case parentFailed(Int64)
}

/// The decision about a conflict, without the request.
enum ConflictDecision: Sendable, Equatable {
  case sendChanged
  case keepTheirs
  case drop
}

/// The states of one entry and their transitions. The type performs no I/O.
struct EntryMachine: Sendable {
  /// The most conflicts that the app is asked about. Another conflict parks the entry.
  static let mostConflicts = 3

  private(set) var facts: EntryFacts
  /// True if the transition requires a new idempotency key.
  private(set) var needsNewKey = false
  let backOff: BackOff

  init(_ facts: EntryFacts, _ backOff: BackOff = BackOff()) {
    self.facts = facts
    self.backOff = backOff
  }

  /// Applies an event. Returns false, and changes nothing, if the state does not allow the event.
  mutating func apply(_ event: EntryEvent, at now: WallTime) -> Bool {
    switch (facts.state, event) {
    case (.queued, .attempt): begin(now)
    case (.sending, .interrupted):
      // It counts, because the request itself may be what ends the process.
      let reason = OutboxReason(.interrupted, "The process ended while the request was sent.")
      again(.init(reason: reason, mayHaveBeenCarriedOut: true, counts: true), 0, now)
    case (.sending, .attempted(let verdict, let chance)): end(verdict, chance, now)
    // The app cancelled the entry, and may have resent it, but the response still arrived.
    case (.unknown, .attempted(.delivered, _)), (.queued, .attempted(.delivered, _)): finish(.delivered, nil, now)
    case (.sending, .resolved(let decision)): resolve(decision, now)
    case (.queued, .reconciled(let fate)): reconcile(fate, now)
    case (.queued, .postponed(let reason, let chance)):
      facts.failures += 1
      queue(
        at: now.advanced(byMilliseconds: backOff.delay(after: facts.failures, atLeast: nil, chance: chance)),
        reason ?? facts.reason)
    case (.queued, .expire): expire(now)
    case (.queued, .unreadable(let reason, let waits)): hold(reason, waits, now)
    case (.queued, .cancel), (.sending, .cancel): cancel(now)
    case (.queued, .remove(let reason)) where facts.isUntouched: finish(.cancelled, reason, now)
    case (let state, .discard) where state.isDeadLetter:
      finish(.cancelled, OutboxReason(.discarded, "The app discarded the entry."), now)
    case (let state, .resend) where state.isDeadLetter: resend(now)
    case (.queued, .edit) where facts.isUntouched:
      renew()
      queue(at: now, nil)
    case (let state, .edit) where state.isDeadLetter && facts.unknownSince == nil:
      resend(now)
      renew()
    case (.queued, .parentFailed(let parent)) where facts.isUntouched:
      let message = "Entry \(parent), which creates the object of this request, failed or returned no identifier."
      finish(.rejected, OutboxReason(.parentFailed, message), now)
    default: return false
    }
    return true
  }

  // MARK: - Attempts

  private mutating func begin(_ now: WallTime) {
    facts.state = .sending
    facts.began = now
  }

  private mutating func end(_ verdict: SendVerdict, _ chance: Double, _ now: WallTime) {
    if case .retry(let retry) = verdict { return again(retry, chance, now) }
    facts.attempts += 1
    switch verdict {
    case .delivered: finish(.delivered, nil, now)
    case .rejected(let reason, let isUnclear):
      if isUnclear { markUnknown() }
      finish(.rejected, reason, now)
    case .parked(let reason, let isUnclear):
      if isUnclear { markUnknown() }
      finish(.parked, reason, now)
    case .conflict(let reason, let isUnclear):
      if isUnclear { markUnknown() }
      facts.conflicts += 1
      finish(facts.conflicts > Self.mostConflicts ? .parked : .rejected, reason, now)
    case .retry: break
    }
  }

  private mutating func again(_ retry: SendVerdict.Retry, _ chance: Double, _ now: WallTime) {
    if retry.mayHaveBeenCarriedOut { markUnknown() }
    facts.failures += 1
    if retry.counts { facts.attempts += 1 }
    guard facts.attempts < facts.attemptLimit else {
      let message = "No attempt is left: \(facts.attempts) of \(facts.attemptLimit) failed. \(retry.reason.message)"
      let reason = OutboxReason(.attempts, message, status: retry.reason.status)
      return finish(facts.unknownSince == nil ? .rejected : .unknown, reason, now)
    }
    let delay = backOff.delay(after: facts.failures, atLeast: retry.after, chance: chance)
    queue(at: now.advanced(byMilliseconds: delay), retry.reason)
  }

  private mutating func markUnknown() { facts.unknownSince = facts.unknownSince ?? facts.began }

  private mutating func queue(at moment: WallTime, _ reason: OutboxReason?) {
    facts.state = .queued
    facts.notBefore = moment
    facts.began = nil
    facts.reason = reason
  }

  private mutating func finish(_ state: OutboxState, _ reason: OutboxReason?, _ now: WallTime) {
    facts.state = state
    facts.reason = reason
    facts.began = nil
    if !state.isDeadLetter { facts.ended = now }
  }

  // MARK: - Decisions of the app

  private mutating func resolve(_ decision: ConflictDecision, _ now: WallTime) {
    facts.conflicts += 1
    switch decision {
    case .sendChanged:
      renew()
      queue(at: now, facts.reason)
    case .keepTheirs: finish(.cancelled, OutboxReason(.keptTheirs, "The change on the server won the conflict."), now)
    case .drop: finish(.cancelled, OutboxReason(.dropped, "The app dropped the entry because of a conflict."), now)
    }
  }

  private mutating func reconcile(_ fate: OutboxFate, _ now: WallTime) {
    switch fate {
    case .carriedOut: finish(.delivered, nil, now)
    case .notCarriedOut:
      renew()
      queue(at: now, nil)
    case .unknown:
      let message =
        "The server may have forgotten the key of the request, whose fate is unknown; find out whether it was "
        + "carried out, then resend or discard the entry."
      finish(.unknown, OutboxReason(.keyForgotten, message), now)
    }
  }

  /// Makes the entry a new change for the server: the old key must not be used again.
  private mutating func renew() {
    needsNewKey = true
    facts.unknownSince = nil
  }

  private mutating func expire(_ now: WallTime) {
    let isKnown = facts.unknownSince == nil
    let message =
      isKnown ? "The time of the entry has passed." : "The time of the entry has passed; its fate is unknown."
    finish(isKnown ? .expired : .unknown, OutboxReason(.expired, message), now)
  }

  private mutating func hold(_ reason: OutboxReason, _ waits: Bool, _ now: WallTime) {
    if waits { queue(at: EntryFacts.held, reason) } else { finish(.parked, reason, now) }
  }

  private mutating func cancel(_ now: WallTime) {
    if facts.isUntouched {
      finish(.cancelled, OutboxReason(.cancelled, "The app cancelled the entry before it was sent."), now)
    } else {
      markUnknown()
      let message = "The app cancelled the entry after the server may have received it."
      finish(.unknown, OutboxReason(.cancelled, message), now)
    }
  }

  /// Queues a dead letter again. If the server has rejected the request, or may have forgotten its key, the entry gets
  /// a new key: under the old key the server would repeat its rejection.
  private mutating func resend(_ now: WallTime) {
    let keepsKey = facts.unknownSince != nil && !facts.isForgotten(at: now) || facts.state == .expired
    if !keepsKey { renew() }
    if let expires = facts.expires {
      let start = facts.ended ?? facts.added
      facts.expires = now.advanced(byMilliseconds: start.milliseconds(to: expires))
    }
    (facts.attempts, facts.failures, facts.conflicts, facts.ended) = (0, 0, 0, now)
    queue(at: now, nil)
  }
}

/// The waits between attempts: each twice as long as the one before, with jitter.
struct BackOff: Sendable, Equatable {
  /// The longest wait after the first failure, in milliseconds.
  var first: Int64 = 1_000
  /// The longest wait at all, in milliseconds.
  var longest: Int64 = 300_000

  /// The longest wait that a server may ask for, in milliseconds: one day.
  static let longestRetryAfter: Int64 = 86_400_000

  /// The wait after a number of failures in a row, in milliseconds. A wait that the server asks for is a minimum.
  func delay(after failures: Int, atLeast least: Int64?, chance: Double) -> Int64 {
    var limit = first
    var turn = 1
    while turn < failures, limit < longest {
      limit = limit > longest / 2 ? longest : limit * 2
      turn += 1
    }
    limit = max(0, min(limit, longest))
    // At least half of the wait, so that the waits grow, and the rest at random, so that clients do not synchronise.
    let jitter = Int64(Double(limit) * (0.5 + 0.5 * min(max(chance, 0), 1)))
    return min(max(least ?? 0, 0), Self.longestRetryAfter) + jitter
  }
}
