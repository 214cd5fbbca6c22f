import ErrandCache
import ErrandCore
import Foundation

extension Outbox {
  /// Cancels an entry.
  ///
  /// An entry that was never sent ends as cancelled. If the server may have received it, the call is cancelled and the
  /// entry goes to the list of dead letters with the state ``OutboxState/unknown``, because only the server knows its
  /// fate. Returns the new state; an entry that has ended already keeps its state.
  /// - Throws: ``OutboxError`` if there is no such entry.
  @discardableResult
  public func cancel(_ id: OutboxEntry.ID) async throws(OutboxError) -> OutboxState {
    try await runner.perform { runner in
      let before = try runner.facts(of: id)
      guard !before.state.isFinal else { return before.state }
      try runner.change { now in try runner.store.apply(.cancel, to: id.rawValue, now) }
      runner.running[id.rawValue]?.task?.cancel()
      return try runner.facts(of: id).state
    }
  }

  /// Queues a dead letter again, at its old place in the lane.
  ///
  /// If the entry has expired, or if its fate is unknown and the server still remembers its key, the key stays the
  /// same. Otherwise the entry gets a new key, because a server would repeat its earlier response under the old key.
  /// - Throws: ``OutboxError`` if there is no such entry, if it is not a dead letter, or if the stored entry is
  ///   damaged.
  public func resend(_ id: OutboxEntry.ID) async throws(OutboxError) {
    try await runner.perform { runner in
      let facts = try runner.facts(of: id)
      guard facts.state.isDeadLetter else { throw Self.wrongState(facts, "be sent again") }
      guard try runner.store.restore(id.rawValue, at: runner.now()) else { throw OutboxStore.damaged(id.rawValue) }
      try runner.change { now in try runner.store.resend(id.rawValue, at: now) }
    }
  }

  /// Replaces the request of an entry that is queued and was never sent, or of a dead letter, which is then queued
  /// again. The entry gets a new key, keeps its place and its rule, and is tried again at once.
  /// - Throws: ``OutboxError`` if the request has another type, if the stored entry is damaged, or if the server may have
  ///   carried out the entry. Discard such an entry and add another one, if that is right for the server. Also if the
  ///   request refers to a later entry, or to one that makes no identifier.
  public func edit<R: OutboxRequest>(_ id: OutboxEntry.ID, to request: R) async throws(OutboxError) {
    try runner.check(request)
    let encoded = try runner.coding.encode(request)
    try await runner.withFiles(of: encoded) { runner in
      // Inside the transaction, because another process may begin to send the entry.
      try runner.change { now in
        let facts = try runner.facts(of: id, type: R.outboxType)
        guard facts.isUntouched || facts.state.isDeadLetter, facts.unknownSince == nil else {
          throw Self.wrongState(facts, "be changed, because the server may have carried it out")
        }
        return try runner.store.edit(facts, encoded, at: now)
      }
    }
  }

  /// Removes a dead letter, or an entry that is queued and was never sent. It ends as cancelled.
  /// - Throws: ``OutboxError`` if there is no such entry, or if the server may have carried it out and it is still
  ///   sent. Cancel such an entry first.
  public func discard(_ id: OutboxEntry.ID) async throws(OutboxError) {
    try await runner.perform { runner in
      let wasDead = try runner.facts(of: id).state.isDeadLetter
      _ = try runner.store.restore(id.rawValue, at: runner.now())
      // Inside the transaction, because another process may begin to send the entry.
      try runner.change { now in
        let facts = try runner.facts(of: id)
        // An entry that was damaged, and is no longer, is queued again.
        guard facts.isUntouched || facts.state.isDeadLetter || wasDead && facts.state == .queued else {
          throw Self.wrongState(facts, "be discarded")
        }
        return try runner.store.discard(facts, at: now)
      }
    }
  }

  private static func wrongState(_ facts: EntryFacts, _ what: String) -> OutboxError {
    OutboxError(.state, "Entry \(facts.id) is \(facts.state.rawValue), so it cannot \(what).")
  }

  // MARK: - Accounts

  /// Prepares the logout of an account. Call it before ``ErrandCore/CredentialStore/logout(_:farewell:)``.
  ///
  /// Without this call, the entries of the account are kept and wait for its next login. In no case is an entry sent
  /// for another account. The requests of delivered entries, which are kept for a while for their changes
  /// (``OptimisticRequest``), are removed.
  /// - Returns: The number of entries of the account that still wait.
  @discardableResult
  public func prepareLogout(of account: String, _ rule: OutboxLogout) async throws(OutboxError) -> Int {
    switch rule {
    case .keep: break
    case .sendFirst(let limit): try await drain(account, within: limit)
    case .discard: try await discardAll(of: account)
    }
    // The logout removes the stored responses of the account, which lacked the changes.
    try await runner.perform { runner in
      try runner.forgetChanges { try $0.keptChanges(of: account, exceptLatest: 0) }
    }
    return try await waiting(of: account)
  }

  private func waiting(of account: String) async throws(OutboxError) -> Int {
    try await runner.perform { try $0.store.ids(of: account, in: [.queued, .sending]).count }
  }

  private func discardAll(of account: String) async throws(OutboxError) {
    try await runner.perform { runner in
      let states = [.queued, .sending] + OutboxState.allCases.filter(\.isDeadLetter)
      let ids = try runner.store.ids(of: account, in: states)
      try runner.change { now in try ids.flatMap { try runner.store.drop($0, at: now) } }
      for id in ids { runner.running[id]?.task?.cancel() }
    }
  }

  /// Waits until no entry of an account waits, or the time has passed.
  private func drain(_ account: String, within limit: Duration) async throws(OutboxError) {
    runner.wake()
    let timers = runner.client.timers
    let (events, event) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let token = timers.schedule(at: timers.now.advanced(by: limit)) { event.finish() }
    defer { timers.cancel(token) }
    let touches = runner.watches.touches()  // also if another process has changed entries
    let relay = Task {
      for await _ in touches { event.yield() }
      event.finish()
    }
    defer { relay.cancel() }
    while try await waiting(of: account) > 0 {
      var iterator = events.makeAsyncIterator()
      guard await iterator.next() != nil else { return }
    }
  }
}
