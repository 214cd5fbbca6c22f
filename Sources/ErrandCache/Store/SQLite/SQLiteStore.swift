public import ErrandCore
import ErrandSupport
public import Foundation

/// Keeps entries on a disk, in a folder of its own.
///
/// Heads and bodies up to 64 KiB lie in a SQLite index, larger bodies in files beside it; both are always written and
/// read as a unit, so a process that is killed leaves the old entry or the new one. Several processes may share a
/// folder. One thread, started at the first use, does all that touches the disk: no call and no thread of Swift's ever
/// waits for it, but for a call's own look-up, which a cancel and the deadline end at once.
///
/// Entries are written behind. Until then they are found by their own process, and lost with it: ``flush()`` waits.
/// What was damaged is removed; an index that is broken, foreign or of another version is emptied and made anew; on a
/// full or read-only disk nothing is kept. All of that costs hits and never a call. The folder and its files are
/// private to the user.
public final class SQLiteStore: CacheStore, UseNoting {
  private let settings: StoreSettings
  private let mailbox: StoreMailbox
  private let knownSalt = Locked<Digest?>(nil)

  /// Makes a store; opens nothing yet.
  /// - Parameters:
  ///   - folder: Where to keep it; made where it is missing. Whoever shares it must use the same library.
  ///   - limit: How many bytes everything in the folder may take, the index too; one MiB at the least. It is held to
  ///     within 10 %; while several processes use the folder at the same moment the log of the index may be about
  ///     twice as long as otherwise, which is an eighth of the limit and 4 MiB at the most.
  ///   - entryLimit: How many bytes one entry may take, half of the limit at the most; nil for 5 % of the limit. A
  ///     larger one is not kept.
  ///   - sealing: Seals the bodies; nil writes them as they are. Entries of the other kind are not used.
  public init(folder: URL, limit: Int = 100 << 20, entryLimit: Int? = nil, sealing: BodySealing? = nil) {
    settings = StoreSettings(folder: folder, limit: limit, entryLimit: entryLimit, sealing: sealing)
    mailbox = StoreMailbox(settings)
  }

  deinit { mailbox.close() }

  /// Why the folder is refused, in sentences that name the folder and the cure; nil if it is not.
  ///
  /// A folder that belongs to another user, that a link of another user leads to, or that others may write to is not
  /// used: nothing is read from it and nothing is written to it. Looks at the folder now, on the caller's thread; a
  /// store that has not been used yet closes a folder of the user's own when it is first used.
  public var refusal: String? { settings.folder.fault?.sentence(settings.folder.path) }

  /// 32 random bytes that lie in the folder; read by the store's thread at the first use, at once afterwards.
  ///
  /// Where they cannot be read now, as while another process holds them for seconds, they are random for this process,
  /// which then leaves alone what lies there, and has nothing on the disk. What lies in a folder whose bytes were lost
  /// is removed. Nil only where the call was stopped, or where its patience ended.
  public func salt(call: CallState, patience: Duration?) async -> Digest? {
    if let salt = knownSalt.withLock({ $0 }) { return salt }
    let salt = await ask(call, patience) { $0.salt() }
    if let salt { knownSalt.withLock { $0 = salt } }
    return salt
  }

  /// Looks for an entry. `choosing` runs on the caller's thread where the entry waits to be written, otherwise on the
  /// store's.
  public func find(
    _ key: CacheKey, choosing: @escaping @Sendable ([CacheEntryHead]) -> Int?, call: CallState, patience: Duration?
  ) async -> CacheLookup {
    let waiting = mailbox.pending { $0.entries(key) }
    if !waiting.isEmpty, let index = choosing(waiting.map(\.head)), waiting.indices.contains(index) {
      return .found(waiting[index])
    }
    return await ask(call, patience) { $0.find(key, choosing) } ?? .unavailable
  }

  /// Whether the same request has a stored response that belongs to others.
  public func holdsForOthers(_ key: CacheKey, call: CallState, patience: Duration?) async -> Bool {
    if mailbox.pending({ $0.holdsForOthers(key) }) { return true }
    return await ask(call, patience) { $0.holdsForOthers(key) } ?? false
  }

  /// Whether the entry may be stored on a disk, is not too large, and there is room among the writes that wait.
  public func takes(_ entry: CacheEntry) -> Bool {
    !entry.head.isMemoryOnly && entry.head.estimatedCost + entry.body.count <= settings.entryLimit
      && mailbox.pending { $0.hasRoom(for: entry) }
  }

  /// Stores an entry, written behind. An entry that no disk may have is not kept, and its stored version is removed.
  /// The same happens if the entries that wait to be written take a quarter of the limit, between 1 and 16 MiB,
  /// already; other entries stay.
  public func put(_ entry: CacheEntry) {
    var entry = entry
    entry.head.received = nil
    entry.decoded = nil
    let waiting = entry
    mailbox.write { $0.put(waiting) }
  }

  /// Replaces the head of an entry whose body still holds, written behind.
  public func renew(_ key: CacheKey, stored: WallTime, head: CacheEntryHead) {
    var head = head
    head.received = nil
    let renewed = head
    mailbox.write { $0.renew(key, stored: stored, head: renewed) }
  }

  /// Removes entries; on the disk behind, for look-ups at once. After removing all, or all of an account, nothing of
  /// them is left in the index's free pages.
  ///
  /// What cannot be removed at once, since another process holds the store or the disk fails, is written down in the
  /// folder, and removed before anything is read by whoever opens it next. ``removals(call:patience:)`` says whether
  /// that is so, or whether the disk takes not even that.
  public func remove(_ selection: CacheSelection) {
    mailbox.write { $0.remove(selection) }
  }

  /// Notes that the memory above has answered with an entry; written along with what else is written.
  package func noteUse(_ key: CacheKey, _ variant: Digest) {
    let place = UsesAbove.Place(entry: key.entry.index, variant: variant.index)
    mailbox.usesAbove.withLock { $0.note(place, at: .now) }
  }

  /// The entries, most recently used first.
  public func list() async -> [CacheListing] { await readableList() ?? [] }

  /// The entries; nil where the store cannot be read now.
  package func readableList() async -> [CacheListing]? {
    // Sorted here, so that the store's thread does not do it.
    await (afterWrites { $0.list() } ?? nil)?.sorted { $0.lastUse > $1.lastUse }
  }

  /// How much is kept, everything in the folder counted.
  public func size() async -> CacheSize {
    await afterWrites { $0.size() } ?? CacheSize(entries: 0, bytes: 0, limit: settings.limit)
  }

  /// Returns when everything that was put or removed before is on the disk.
  public func flush() async {
    _ = await afterWrites { _ in true }
  }

  /// How far what was removed has come. Waits for it until the patience ends; a removal that another process or the
  /// disk holds up is written down in the folder meanwhile.
  public func removals(call: CallState, patience: Duration) async -> RemovalState {
    if mailbox.removalState == .done { return .done }
    let ticket = StoreTicket<Bool>()
    await wait(for: ticket, call, patience) { [mailbox] in
      mailbox.barrier { _ in ticket.settle(true) }
    }
    return mailbox.removalState
  }

  /// Writes what waits and ends the thread; the store keeps nothing afterwards.
  package func close() async {
    mailbox.close()
    await mailbox.ended()
  }

  // MARK: -

  /// Asks the store's thread; a stop of the call and the end of its patience end the wait.
  private func ask<Answer: Sendable>(
    _ call: CallState, _ patience: Duration?, _ question: @escaping @Sendable (StoreWorker) -> Answer
  ) async -> Answer? {
    let ticket = StoreTicket<Answer>()
    return await wait(for: ticket, call, patience) { [mailbox] in
      mailbox.read { worker in
        if ticket.isOpen { ticket.settle(worker.map(question)) }
      }
    }
  }

  /// Waits until a ticket is settled, the call is stopped or its patience ends; returns the answer that came.
  @discardableResult
  private func wait<Answer: Sendable>(
    for ticket: StoreTicket<Answer>, _ call: CallState, _ patience: Duration?, asking: () -> Void
  ) async -> Answer? {
    var timer: TimerToken?
    do throws(CallState.Stopped) {
      try await call.wait { wakeup in
        ticket.begin(wakeup)
        if let patience {
          timer = call.timers.schedule(at: call.timers.now.advanced(by: patience)) { ticket.settle(nil) }
        }
        asking()
      }
    } catch {
      // The call was stopped: what the ticket has by now is as good as nothing.
    }
    if let timer { call.timers.cancel(timer) }
    return ticket.leave()
  }

  /// Asks the store's thread when all that was put or removed before is written.
  private func afterWrites<Answer: Sendable>(_ question: @escaping @Sendable (StoreWorker) -> Answer) async -> Answer? {
    let ticket = StoreTicket<Answer>()
    await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
      mailbox.barrier { worker in
        ticket.settle(worker.map(question))
        continuation.resume()
      }
    }
    return ticket.leave()
  }
}

/// One question to the store's thread: the answer, and whether somebody still waits for it.
final class StoreTicket<Answer: Sendable>: Sendable {
  private struct State: Sendable {
    var answer: Answer?
    var wakeup: Wakeup?
    var isOver = false
  }

  private let state = Locked(State())

  /// Notes whom to wake.
  func begin(_ wakeup: Wakeup) {
    state.withLock { $0.wakeup = wakeup }
  }

  /// Whether nobody has answered and nobody has left.
  var isOpen: Bool { state.withLock { !$0.isOver } }

  /// Answers, or says by nil that no answer will come. Only the first counts.
  func settle(_ answer: Answer?) {
    let wakeup: Wakeup? = state.withLock { state in
      guard !state.isOver else { return nil }
      state.isOver = true
      state.answer = answer
      return state.wakeup
    }
    wakeup?.resume()
  }

  /// Ends the waiting; returns the answer that came.
  func leave() -> Answer? {
    state.withLock { state in
      state.isOver = true
      defer { state.answer = nil }
      return state.answer
    }
  }
}
