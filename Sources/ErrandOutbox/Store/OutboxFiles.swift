package import ErrandCache
package import Foundation

/// The entries of a folder for a tool that has no client and sends nothing: the command `errand outbox`.
///
/// All functions must be called on one thread at a time. They may be used while a program has the outbox open.
package final class OutboxFiles {
  private let store: OutboxStore
  private var clock: OutboxTime

  /// Opens the outbox in a folder. Creates nothing.
  package init(_ url: URL) throws(OutboxError) {
    let folder = OutboxFolder(url)
    guard folder.exists else { throw OutboxError(.folder, "“\(folder.path)” contains no outbox.") }
    store = try OutboxStore(folder)
    do { clock = try store.clock() } catch { throw OutboxError.mapping(error, folder.path) }
  }

  package var now: WallTime { clock.read(.now) }

  /// Entries in the order in which they were added.
  package func entries(
    in states: [OutboxState], after id: OutboxEntry.ID?, limit: Int
  ) throws(OutboxError) -> [OutboxEntry] {
    try mapped {
      try store.findDamage()
      return try store.entries(in: states, after: id?.rawValue ?? 0, limit: limit)
    }
  }

  /// An entry and the JSON of its request; the JSON is nil if it is sealed or cannot be read.
  package func entry(_ id: OutboxEntry.ID) throws(OutboxError) -> (entry: OutboxEntry, json: Data?) {
    try mapped {
      let stored = try store.sparing(id.rawValue) { try store.stored(id.rawValue) } ?? nil
      let facts = try facts(of: id)
      return (OutboxEntry(facts), facts.isSealed ? nil : stored?.request)
    }
  }

  /// Queues a dead letter again, as ``Outbox/resend(_:)`` does.
  package func resend(_ id: OutboxEntry.ID) throws(OutboxError) {
    try change(id, "be sent again", mayBeDamaged: false, { _ in false }) { facts, now in
      try self.store.resend(facts.id, at: now)
    }
  }

  /// Removes a dead letter, or an entry that was never sent, as ``Outbox/discard(_:)`` does.
  package func discard(_ id: OutboxEntry.ID) throws(OutboxError) {
    try change(id, "be discarded", mayBeDamaged: true, \.isUntouched) { facts, now in
      try self.store.discard(facts, at: now)
    }
  }

  /// - Parameter isAllowed: Whether an entry that is no dead letter may be changed.
  private func change(
    _ id: OutboxEntry.ID, _ what: String, mayBeDamaged: Bool, _ isAllowed: (EntryFacts) -> Bool,
    _ change: (EntryFacts, WallTime) throws -> [EntryFacts]
  ) throws(OutboxError) {
    try mapped {
      // The facts alone may be readable.
      _ = try store.sparing(id.rawValue) { try store.stored(id.rawValue) }
      let wasDead = try facts(of: id).state.isDeadLetter
      let isUsable = try store.restore(id.rawValue, at: now)
      guard isUsable || mayBeDamaged else { throw OutboxStore.damaged(id.rawValue) }
      clock = try store.transaction {
        var clock = clock
        let now = try store.exchange(&clock, .now)
        let facts = try facts(of: id)
        // An entry that was damaged, and is no longer, is queued again.
        guard facts.state.isDeadLetter || isAllowed(facts) || wasDead && facts.state == .queued else {
          throw OutboxError(.state, "Entry \(id) is \(facts.state.rawValue), so it cannot \(what).")
        }
        _ = try change(facts, now)
        return clock
      }
    }
  }

  private func facts(of id: OutboxEntry.ID) throws -> EntryFacts {
    guard let facts = try store.facts(of: id.rawValue) else { throw OutboxError(.noEntry, "There is no entry \(id).") }
    return facts
  }

  private func mapped<Value>(_ body: () throws -> Value) throws(OutboxError) -> Value {
    do { return try body() } catch { throw OutboxError.mapping(error) }
  }
}
