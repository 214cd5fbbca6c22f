import ErrandCache
import ErrandCore
import Foundation

// The start of attempts, and the entries that cannot be sent. All functions run on the queue.
extension OutboxRunner {
  /// Records the attempts that begin now, and the entries that expire. Returns the requests to send, with the state
  /// `sending`, and those to reconcile.
  func begin(
    _ decision: OutboxSchedule, _ now: WallTime
  ) throws -> [(facts: EntryFacts, request: any OutboxRequest)] {
    guard !decision.send.isEmpty || !decision.reconcile.isEmpty || !decision.expire.isEmpty else { return [] }
    point(.beginning)
    let (changed, started) = try commit { present -> ([EntryFacts], [(EntryFacts, any OutboxRequest)]) in
      var started: [(EntryFacts, any OutboxRequest)] = []
      // The clock was reset after the decision.
      guard present >= now else { return ([], started) }
      var changed = try decision.expire.flatMap { try store.apply(.expire, to: $0, now) }
      for id in decision.send + decision.reconcile {
        let begun = try begin(id, reconciles: decision.reconcile.contains(id), now)
        changed += begun.changed
        if let one = begun.started { started.append(one) }
      }
      return (changed, started)
    }
    publish(changed)
    // An entry that ended, or cannot be sent, leaves its place to another one.
    if !decision.expire.isEmpty || started.count < decision.send.count + decision.reconcile.count { request() }
    return started
  }

  /// Records that an attempt of an entry begins, or why it cannot begin.
  private func begin(
    _ id: Int64, reconciles: Bool, _ now: WallTime
  ) throws -> (changed: [EntryFacts], started: (EntryFacts, any OutboxRequest)?) {
    guard let stored = try store.sparing(id, { try store.stored(id) }) ?? nil else { return ([], nil) }
    switch read(stored) {
    case .success(let request):
      var facts = stored.facts
      // Another version of the app, or a changed request, may forbid the repetition that was allowed before.
      if facts.window != 0, !request.idempotency.allows(request.method) {
        facts.window = 0
        try store.sparing(id) { try store.run("UPDATE entry SET window=0 WHERE id=?", .number(id)) }
      }
      if reconciles || facts.isForgotten(at: now) { return ([], (facts, request)) }
      let begun = try store.apply(.attempt, to: id, now)
      return (begun, begun.first.map { ($0, request) })
    case .failure(let fault): return (try store.apply(fault.event, to: id, now, backOff: configuration.backOff), nil)
    }
  }

  /// A stored request cannot be sent by this process now.
  struct Fault: Error {
    /// The event that follows for the entry.
    let event: EntryEvent

    /// - Parameter waits: Whether another version or configuration of the app may be able to send the request. Otherwise
    ///   the app must decide.
    init(_ code: OutboxReason.Code, _ message: String, waits: Bool = false) {
      event = .unreadable(OutboxReason(code, message), waits: waits)
    }

    init(_ event: EntryEvent) { self.event = event }
  }

  func read(_ stored: StoredEntry) -> Result<any OutboxRequest, Fault> {
    let facts = stored.facts
    guard stored.isIntact else {
      let cause = "its checksum is wrong, because something else than the library has changed it"
      return .failure(Fault(.unreadable(.damaged(facts.id, cause), waits: false)))
    }
    guard let type = types[facts.type], facts.version <= type.outboxVersion else {
      let message = "The type \(facts.type), version \(facts.version), is not in the list of the outbox."
      return .failure(Fault(.unknownType, message, waits: true))
    }
    if facts.isSealed, coding.seal == nil {
      let message = "The stored request is sealed, and the outbox has no seal."
      return .failure(Fault(.unreadable, message, waits: true))
    }
    do {
      return .success(try coding.decode(type, stored, store))
    } catch let error as OutboxError where error.code == .parent {
      return .failure(Fault(.parentFailed, error.message))
    } catch let failure as SealFailure {
      let cause = ErrorText.of(failure.cause, isSealed: true)
      let reason = OutboxReason(.unreadable, "The seal cannot open the stored request now: \(cause)")
      return .failure(Fault(.postponed(reason, chance: .random(in: 0...1))))
    } catch {
      let cause = ErrorText.of(error, isSealed: facts.isSealed)
      return .failure(Fault(.unreadable, "The stored request cannot be read: \(cause)"))
    }
  }
}
