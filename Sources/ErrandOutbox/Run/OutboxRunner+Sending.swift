import ErrandCache
import ErrandCore
import ErrandSupport
import Foundation

// The calls of the entries. The functions with `async` run in tasks of their own; all others run on the queue.
extension OutboxRunner {
  func start(_ facts: EntryFacts, _ request: any OutboxRequest, reconciles: Bool) {
    let entry = OutboxSchedule.Running(id: facts.id, account: facts.account, lane: facts.lane)
    if !reconciles { point(.began) }
    running[facts.id] = Work(entry: entry)
    let check = KeyCheck(facts, clock, configuration.clock)
    running[facts.id]?.task = Task {
      let ended = reconciles ? await self.reconcile(request, facts) : await self.send(request, facts, check)
      self.queue.async { self.end(ended) }
    }
  }

  private func send<R: OutboxRequest>(_ request: R, _ facts: EntryFacts, _ check: KeyCheck) async -> Ended {
    var options = options(facts, request.idempotency)
    options.exchangeCheck = check.beforeExchange
    let outcome = await client.outcome(of: request, options: options)
    point(.answered)
    let result = SendResult(outcome, hadUnknownFate: facts.unknownSince != nil, isSealed: facts.isSealed)
    let verdict = SendVerdict(result)
    var ended = Ended(facts, .attempted(verdict, chance: .random(in: 0...1)))
    if let value = outcome.value {
      ended.value = value
      ended.made = request.createdID(from: value)
    }
    if case .conflict(_, let isUnclear) = verdict, facts.conflicts < EntryMachine.mostConflicts,
      let error = outcome.error
    {
      let conflict = OutboxConflict(entry: OutboxEntry(facts), error: error, number: facts.conflicts + 1)
      return await resolve(request, conflict, facts, ended, isUnclear: isUnclear)
    }
    return ended
  }

  /// The options of a call for an entry: its account and its key. A call that other callers join would have the key of
  /// another entry, so calls are never joined. No call reads a stored response: an entry would not be sent, and the app
  /// would decide by a former state of the server.
  ///
  /// All entries have the same owner, so that together they take one turn among the owners whose calls wait for the
  /// server. No entry cancels or rejects another one by the rule `repeats` of a type or of the client.
  private func options(_ facts: EntryFacts, _ idempotency: Idempotency) -> CallOptions {
    var options = CallOptions(owner: owner, cache: .ignoringCache, joining: .never)
    options.ignoresRepeats = true
    if case .keyed(let name) = idempotency { options.headers[name] = facts.key }
    options.requiredAccount = facts.account
    options.requiresAccountAlways = true
    return options
  }

  private func scope(_ facts: EntryFacts) -> OutboxScope {
    OutboxScope(client: client, options: options(facts, .byMethod), owner: owner)
  }

  /// Asks the request what to do about a conflict.
  /// - Parameter isUnclear: Whether the server may have carried out an earlier exchange of the call.
  private func resolve<R: OutboxRequest>(
    _ request: R, _ conflict: OutboxConflict, _ facts: EntryFacts, _ unresolved: Ended, isUnclear: Bool
  ) async -> Ended {
    do {
      switch try await request.resolve(conflict, in: scope(facts)) {
      case .keepMine(let changed), .merged(let changed):
        let encoded = try coding.encode(changed, of: facts.id)
        try await take(encoded.newFiles)
        var ended = Ended(facts, .resolved(.sendChanged))
        ended.request = encoded
        return ended
      case .keepTheirs: return Ended(facts, .resolved(.keepTheirs))
      case .drop: return Ended(facts, .resolved(.drop))
      case .unresolved: return unresolved
      }
    } catch {
      let cause = ErrorText.of(error, isSealed: facts.isSealed)
      let reason = OutboxReason(
        .conflict, "The conflict could not be resolved now: \(cause)", status: conflict.error.status)
      let retry = SendVerdict.Retry(reason: reason, mayHaveBeenCarriedOut: isUnclear, counts: true)
      return Ended(facts, .attempted(.retry(retry), chance: .random(in: 0...1)))
    }
  }

  /// Asks the app whether the server has carried out a request.
  private func reconcile<R: OutboxRequest>(_ request: R, _ facts: EntryFacts) async -> Ended {
    do {
      let fate = try await request.reconcile(in: scope(facts))
      var ended = Ended(facts, .reconciled(fate))
      if case .carriedOut(let id) = fate { ended.made = id }
      return ended
    } catch {
      return Ended(facts, .postponed(nil, chance: .random(in: 0...1)))
    }
  }

  // MARK: - On the queue

  private func end(_ ended: Ended) {
    switch ended.event {
    case .attempted(let verdict, let chance):
      hold.learn(from: verdict, at: now(), chance: chance, configuration.backOff)
    // The server has responded: it reported the conflict.
    case .resolved: hold.end()
    default: break
    }
    let isWoken = running[ended.id]?.isWoken == true
    unsaved.append(ended)
    do { try saveUnsaved() } catch {
      client.log(.warning, "outbox: \(OutboxError.mapping(error, folder.path))")
    }
    // If the result could not be recorded, the next pass tries again. Until then the entry counts as running, so it is
    // not sent twice.
    if isWoken { wakeWaiting() } else { request() }
    finishClosing()
  }

  func saveUnsaved() throws {
    while let ended = unsaved.first {
      let changed: [EntryFacts] = try commit { now in
        // If the app has resent the entry with another key meanwhile, the result belongs to an earlier change.
        guard let facts = try store.facts(of: ended.id), facts.key == ended.key else { return [] }
        // Stored responses that were requested before now lack the change.
        let time = optimistic[facts.type] == nil ? nil : cacheTime
        return try store.apply(
          ended.event, to: ended.id, now, backOff: configuration.backOff, request: ended.request,
          delivery: .init(made: ended.made, time: time))
      }
      point(.ended)
      unsaved.removeFirst()
      running[ended.id] = nil
      publish(changed, value: ended.value)
      // The app may have cancelled the entry meanwhile, also in another process.
      if changed.isEmpty {
        try? refreshWatch(of: ended.id)
        if let request = ended.request { folder.files.remove(request.newFiles.keys) }
      }
      if let account = changed.first?.account, changed.first?.kept != nil {
        // The result is recorded. If the removal fails, the next delivery tries it again.
        try? forgetSurplusChanges(of: account)
      }
    }
  }

  /// Removes the delivered changes of an account that are too many, several at once: each removal is a commit.
  private func forgetSurplusChanges(of account: String) throws {
    try forgetChanges { store in
      let surplus = try store.keptChanges(of: account, exceptLatest: ResponseMoment.mostChanges)
      return surplus.count < ResponseMoment.surplus ? [] : surplus
    }
  }
}

extension OutboxRunner.Ended {
  init(_ facts: EntryFacts, _ event: EntryEvent) { self.init(id: facts.id, key: facts.key, event: event) }
}

/// Ends a call before it repeats a request whose key the server may have forgotten meanwhile: a call may wait for long,
/// and the device may sleep during the call.
private final class KeyCheck: Sendable {
  /// The facts of the entry, as if the first exchange of the call were unclear.
  private let facts: EntryFacts
  private let wall: @Sendable () -> WallTime
  private let state: Locked<(clock: OutboxTime, isRepetition: Bool)>

  /// Makes the check of one attempt. The clock is a copy of the outbox's clock.
  init(_ facts: EntryFacts, _ clock: OutboxTime, _ wall: @escaping @Sendable () -> WallTime) {
    state = Locked((clock, facts.unknownSince != nil))
    self.wall = wall
    var facts = facts
    facts.unknownSince = facts.unknownSince ?? facts.began
    self.facts = facts
  }

  /// Is called before each exchange of the call. A request without a window is repeated in a call only if the client's
  /// own rule allows it (``ErrandCore/Idempotency``).
  func beforeExchange() throws(APIError) {
    let isForgotten = state.withLock { state in
      defer { state.isRepetition = true }
      return state.isRepetition && facts.window != 0 && facts.isForgotten(at: state.clock.read(wall()))
    }
    if isForgotten {
      throw APIError(
        .cancelled, .cancelled, "The server may have forgotten the key of the request; it is not repeated.")
    }
  }
}
