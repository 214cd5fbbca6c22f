import ErrandCache
import ErrandCore
import Foundation

// The start of attempts, and the entries that cannot be sent. All functions run on the queue.
extension OutboxRunner {
  /// Records the attempts that begin now, and the entries that expire. Returns the requests to send or to reconcile.
  func begin(
    _ decision: OutboxSchedule, _ now: WallTime
  ) throws -> [(facts: EntryFacts, request: any OutboxRequest)] {
    guard !decision.send.isEmpty || !decision.reconcile.isEmpty || !decision.expire.isEmpty else { return [] }
    point(.beginning)
    var started: [(EntryFacts, any OutboxRequest)] = []
    let changed = try store.transaction {
      try store.exchange(&clock)
      var changed = try decision.expire.flatMap { id in
        try sparing(id) { try store.apply(.expire, to: id, now) } ?? []
      }
      for id in decision.send + decision.reconcile {
        let begun = try sparing(id) { try begin(id, reconciles: decision.reconcile.contains(id), now) }
        changed += begun?.changed ?? []
        if let one = begun?.started { started.append(one) }
      }
      return changed
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
    guard let stored = try store.stored(id) else { return ([], nil) }
    switch read(stored) {
    case .success(let request) where reconciles: return ([], (stored.facts, request))
    case .success(let request):
      let begun = try store.apply(.attempt, to: id, now)
      return (begun, begun.first.map { ($0, request) })
    case .failure(let fault): return (try store.apply(fault.event, to: id, now, backOff: configuration.backOff), nil)
    }
  }

  /// Changes one entry inside a transaction. If the database is damaged at the entry, the transaction fails, because
  /// SQLite cannot continue it, and the next pass leaves the entry alone. Returns nil for an entry that is left alone.
  func sparing<Value>(_ id: Int64, _ change: () throws -> Value) throws -> Value? {
    guard !damaged.contains(id) else { return nil }
    do { return try change() } catch let failure as SQLiteFailure where failure.meaning == .broken {
      damaged.insert(id)
      client.log(.warning, "outbox: the database is damaged at entry \(id), so the entry and its lane are not sent")
      request()
      throw failure
    }
  }

  /// The reason why a stored request cannot be sent by this process now.
  struct Fault: Error {
    /// What may help.
    enum Cure {
      /// A decision of the app.
      case decision
      /// Another version or configuration of the app.
      case update
      /// Time.
      case time
    }

    let reason: OutboxReason
    let cure: Cure

    init(_ code: OutboxReason.Code, _ message: String, _ cure: Cure) {
      reason = OutboxReason(code, message)
      self.cure = cure
    }

    var event: EntryEvent {
      switch cure {
      case .decision: .unreadable(reason, waits: false)
      case .update: .unreadable(reason, waits: true)
      case .time: .postponed(reason, chance: .random(in: 0...1))
      }
    }
  }

  func read(_ stored: StoredEntry) -> Result<any OutboxRequest, Fault> {
    let facts = stored.facts
    guard stored.isIntact else {
      return .failure(Fault(.unreadable, "The stored entry is damaged.", .decision))
    }
    guard let type = types[facts.type], facts.version <= type.outboxVersion else {
      let message = "The type \(facts.type), version \(facts.version), is not in the list of the outbox."
      return .failure(Fault(.unknownType, message, .update))
    }
    if facts.isSealed, coding.seal == nil {
      let message = "The stored request is sealed, and the outbox has no seal."
      return .failure(Fault(.unreadable, message, .update))
    }
    do {
      return .success(try coding.decode(type, stored, store))
    } catch let error as OutboxError where error.code == .parent {
      return .failure(Fault(.parentFailed, error.message, .decision))
    } catch let failure as SealFailure {
      return .failure(Fault(.unreadable, "The seal cannot open the stored request now: \(failure.cause)", .time))
    } catch {
      return .failure(Fault(.unreadable, "The stored request cannot be read: \(error)", .decision))
    }
  }
}
