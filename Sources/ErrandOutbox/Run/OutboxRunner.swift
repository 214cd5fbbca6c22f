import ErrandCache
import ErrandCore
import ErrandSupport
import Foundation

/// Sends the entries of a folder: looks for entries that are due, records each attempt before it begins, and records
/// its result.
///
/// All decisions and all access to the store happen on one serial queue, so no two of them overlap. Each event, such as
/// an added entry, the end of a call or a timer, only asks for another pass; a pass decides from what is stored. So it
/// does not matter how often, or in which order, events arrive.
final class OutboxRunner: @unchecked Sendable {  // the variables are used only on `queue`
  let client: APIClient
  let configuration: OutboxConfiguration
  let folder: OutboxFolder
  let types: [String: any OutboxRequest.Type]
  let coding: RequestCoding
  let watches = OutboxWatches()
  /// The owner of all calls. The tasks of the calls keep the runner, so it exists until they have ended.
  let owner = CallOwner()
  let queue = DispatchQueue(label: "errand.outbox")
  let store: OutboxStore
  /// The right to send. Nil while another process has it.
  var lease: FileLock?
  var clock = OutboxTime()
  var running: [Int64: Work] = [:]
  /// The results of attempts that could not be recorded yet, for example because the disk is full.
  var unsaved: [Ended] = []
  var hold = SendHold()
  /// The patches of the present account; nil as long as they were not asked for.
  var patches: WaitingPatches?
  /// The types of requests that have patches.
  let optimistic: [String: any OutboxRequest.Type]
  var isPaused = false
  var isClosed = false
  private var isPassRequested = false
  private var timer: (timers: any Timers, token: TimerToken)?
  private(set) var nextPass: WallTime?
  /// The account for which the last pass has decided.
  private(set) var decidedAccount = ""
  private var seenVersion: Int64 = 0
  private var lastRemoval: WallTime?
  private var listeners: [Task<Void, Never>] = []
  /// Is set as soon as all results are recorded, or cannot be, and another process may send.
  private let closed = Promise<Void>()

  struct Work {
    let entry: OutboxSchedule.Running
    var task: Task<Void, Never>?
    /// Whether an event such as a login happened after the work began, so that its failure may be out of date.
    var isWoken = false
  }

  struct Ended {
    let id: Int64
    /// The idempotency key with which the work began.
    let key: String
    let event: EntryEvent
    var request: EncodedRequest?
    var value: (any Sendable)?
    var made: String?
  }

  static let longestLook: Int64 = 3_600_000
  static let leasePoll: Int64 = 5_000

  init(
    _ folder: OutboxFolder, _ client: APIClient, _ types: [any OutboxRequest.Type], _ configuration: OutboxConfiguration
  ) throws(OutboxError) {
    self.folder = folder
    self.client = client
    self.configuration = configuration
    self.types = try OutboxRunner.named(types)
    optimistic = self.types.filter { $0.value is any OptimisticRequest.Type }
    coding = RequestCoding(seal: configuration.seal)
    store = try OutboxStore(folder)
    do { clock = try store.clock() } catch { throw OutboxError.mapping(error, folder.path) }
  }

  /// The types by their names. Two types with one name would read each other's entries.
  private static func named(
    _ types: [any OutboxRequest.Type]
  ) throws(OutboxError) -> [String: any OutboxRequest.Type] {
    var named: [String: any OutboxRequest.Type] = [:]
    for type in types {
      guard let other = named.updateValue(type, forKey: type.outboxType), other != type else { continue }
      throw OutboxError(
        .unregistered,
        "\(String(reflecting: other)) and \(String(reflecting: type)) have the same name "
          + "“\(type.outboxType)” in the outbox; give one of them another `outboxType`.")
    }
    return named
  }

  // MARK: - Jobs

  func perform<Value: Sendable>(
    _ job: @escaping @Sendable (OutboxRunner) throws -> Value
  ) async throws(OutboxError) -> Value {
    let result: Result<Value, OutboxError> = await withUnsafeContinuation { continuation in
      queue.async {
        // Without a variable, which would keep the value for a moment after the caller has it.
        continuation.resume(returning: self.run(job))
      }
    }
    return try result.get()
  }

  private func run<Value: Sendable>(
    _ job: (OutboxRunner) throws -> Value
  ) -> Result<Value, OutboxError> {
    defer { reportDamage() }
    return Result {
      if isClosed { throw OutboxError(.closed, "The outbox was closed; open another one.") }
      return try job(self)
    }.mapError { OutboxError.mapping($0, folder.path) }
  }

  /// Changes the store in one transaction, then publishes the changes.
  func change(_ change: (WallTime) throws -> [EntryFacts]) throws {
    publish(try commit(change))
    request()
  }

  /// Changes the store in one transaction, which receives the time.
  func commit<Value>(_ body: (WallTime) throws -> Value) throws -> Value {
    let (value, clock) = try store.transaction {
      var clock = self.clock
      let now = try store.exchange(&clock, configuration.clock())
      return (try body(now), clock)
    }
    adopt(clock)
    return value
  }

  /// Adopts the state of the clock that was stored. The times from before a reset mean nothing any more.
  private func adopt(_ stored: OutboxTime) {
    if stored.resets != clock.resets {
      hold.end()
      (lastRemoval, nextPass) = (nil, nil)
    }
    clock.merge(stored)
  }

  func now() -> WallTime { clock.read(configuration.clock()) }

  /// The time of the clock by which the cache notes when it has requested its responses.
  var cacheTime: WallTime { client.cache?.wallClock() ?? configuration.clock() }

  func point(_ point: OutboxPoint) { configuration.onPoint?(point) }

  func publish(_ changed: [EntryFacts], value: (any Sendable)? = nil) {
    for facts in changed { followPatches(facts) }
    // An entry may change twice in a transaction. Only its last state was stored.
    let last = Dictionary(changed.enumerated().map { ($1.id, $0) }) { $1 }
    for (index, facts) in changed.enumerated() where last[facts.id] == index {
      watches.publish(facts, index == 0 ? value : nil)
      if facts.state.isDeadLetter, let reason = facts.reason {
        client.log(.warning, "outbox: entry \(facts.id) (\(facts.type)) is \(facts.state.rawValue): \(reason)")
      }
    }
    if !changed.isEmpty, watches.hasSummaries, let summary = try? store.summary() { watches.publish(summary) }
  }

  /// Publishes the entries that turned out to be damaged, and stores what is known of them.
  private func reportDamage() {
    let found = store.takeFoundDamage()
    guard !found.isEmpty else { return }
    publish(found)
    // If this fails, the next transaction stores it.
    try? store.transaction {}
    request()
  }

  // MARK: - Events

  /// Starts to listen to the wakers and to changes of the accounts, and looks for entries.
  func start() {
    var sources = configuration.wakers
    if let store = client.configuration.credentials as? CredentialStore { sources.append(AccountWaker(store: store)) }
    let listeners = sources.map { source in
      let wakes = source.wakes  // before the task runs, so that no event is missed
      return Task { [weak self] in
        for await _ in wakes { self?.wake() }
      }
    }
    queue.async {
      self.listeners = listeners
      self.request()
    }
  }

  /// Tries the entries again at once that wait for the network or a login, or that an attempt of now will let wait.
  func wake() {
    queue.async {
      for id in self.running.keys { self.running[id]?.isWoken = true }
      self.wakeWaiting()
    }
  }

  /// Tries the entries again at once that wait now for the network or a login. Must be called on the queue.
  func wakeWaiting() {
    guard !isClosed else { return }
    hold.end()
    // Another account has other changes.
    watches.touch()
    if lease != nil {
      do {
        try commit { now in try store.wake(at: now) }
      } catch {
        return look(after: 1_000)
      }
    }
    request()
  }

  /// Asks for another pass. Several requests before the pass are one.
  func request() {
    guard !isPassRequested, !isClosed else { return }
    isPassRequested = true
    queue.async {
      self.isPassRequested = false
      self.pass()
    }
  }

  /// Sets the timer for the next pass.
  /// - Parameter start: The start of the wait, if it began before now: a pass takes time.
  private func look(after milliseconds: Int64, since start: MonotonicInstant? = nil) {
    stopTimer()
    let timers = client.timers
    let wait = max(1, min(milliseconds, Self.longestLook))
    let moment = (start ?? timers.now).advanced(by: .milliseconds(wait))
    nextPass = now().advanced(byMilliseconds: wait)
    let token = timers.schedule(at: moment) { [weak self] in
      guard let self else { return }
      queue.async { self.request() }
    }
    timer = (timers, token)
  }

  private func stopTimer() {
    if let timer { timer.timers.cancel(timer.token) }
    (timer, nextPass) = (nil, nil)
  }

  // MARK: - Passes

  /// Looks once for everything that is due.
  private func pass() {
    guard !isClosed else { return }
    defer { reportDamage() }
    do {
      try saveUnsaved()
      try readForeignChanges()
      let began = client.timers.now
      guard try takeLease() else { return look(after: min(poll ?? Self.leasePoll, Self.leasePoll)) }
      let now = now()
      try removeOldEntries(now)
      let decision = try decide(now)
      let started = try begin(decision, now)
      if !started.isEmpty { hold.begin() }
      for (facts, request) in started { start(facts, request, reconciles: facts.state != .sending) }
      // Delivered changes are removed in time although nothing else happens.
      let removal = try store.keepsChanges() ? Self.longestLook : nil
      let wait = [decision.wakeAt.map { now.milliseconds(to: $0) }, poll, removal].compactMap(\.self).min()
      if let wait { look(after: wait, since: began) } else { stopTimer() }
    } catch {
      client.log(.warning, "outbox: \(OutboxError.mapping(error, folder.path))")
      look(after: 1_000)
    }
  }

  private var poll: Int64? { configuration.pollInterval.map { max(100, $0.clampedNanoseconds / 1_000_000) } }

  /// Takes the right to send, if no other process has it. Entries that an earlier process was sending are queued again
  /// before anything is sent. Waits for the network or a login end, because they may have passed since the earlier
  /// process looked, and because a call of ``wake()`` that came before the right to send reached no entry.
  private func takeLease() throws -> Bool {
    if lease != nil { return true }
    guard let lock = FileLock.alone(folder.lease, waiting: 1) else {
      guard SystemFile.kind(folder.lease) == .file, access(folder.lease, R_OK | W_OK) == 0 else {
        throw OutboxError(.folder, "“\(folder.lease)” cannot be opened; check its permissions, or remove it.")
      }
      return false
    }
    // If the index of these entries is damaged, their waits stay, and the others are sent.
    _ = try store.unlessDamaged { try commit { now in try store.wake(at: now) } }
    let changed = try commit { now in try store.recover(at: now, configuration.backOff) }
    lease = lock
    publish(changed)
    // By the clock of the file system, which is not the clock of the outbox.
    if let wanted = try? store.allFileNames() { folder.files.sweep(keeping: wanted, at: .now) }
    return true
  }

  /// Removes entries that ended long ago, and the delivered changes that apply to no response any more, once an hour.
  private func removeOldEntries(_ now: WallTime) throws {
    if let lastRemoval, lastRemoval.milliseconds(to: now) < Self.longestLook { return }
    lastRemoval = now
    let (history, present) = (configuration.history.milliseconds, cacheTime)
    let age = min(history ?? .max, ResponseMoment.longestAge)
    try forgetChanges { try $0.keptChanges(outside: present.advanced(byMilliseconds: -age)...present) }
    guard let history else { return }
    try commit { now in try store.purge(before: now.advanced(byMilliseconds: -history)) }
  }

  /// Removes the delivered changes that a query finds. If the query meets damage, nothing is removed.
  func forgetChanges(_ find: (OutboxStore) throws -> [Int64]) throws {
    guard let ids = try store.unlessDamaged({ try find(store) }), !ids.isEmpty else { return }
    try commit { _ in try store.forgetChanges(of: ids) }
    for id in ids { patches?.set(nil, for: id) }
  }

  private func decide(_ now: WallTime) throws -> OutboxSchedule {
    let account = client.presentAccount ?? ""
    decidedAccount = account
    let isHeld = hold.until.map { $0 > now } ?? false
    let heads = try store.heads(
      of: account, limit: configuration.allowedParallel + running.count, mayHaveFailed: !isHeld)
    let expiring = try store.expiring(at: now, limit: 100)
    return OutboxSchedule(
      OutboxSchedule.Input(
        heads: heads.entries, nextDue: heads.next, expiring: expiring.entries, nextExpiry: expiring.next,
        running: running.values.map(\.entry), account: account, now: now, isPaused: isPaused,
        heldUntil: hold.until, mayProbe: hold.mayProbe, parallel: configuration.allowedParallel))
  }

  /// Updates the observed entries that another process has changed.
  private func readForeignChanges() throws {
    let version = try store.dataVersion()
    guard version != seenVersion else { return }
    try store.loadDamage()
    adopt(try store.clock())
    for id in watches.watched where running[id] == nil { try refreshWatch(of: id) }
    seenVersion = version
    if watches.hasSummaries { watches.publish(try store.summary()) }
    watches.touch()
  }

  /// Updates an observed entry that another process may have changed or removed.
  func refreshWatch(of id: Int64) throws {
    if let facts = try store.facts(of: id) { watches.refresh(facts) } else { watches.end(id) }
  }

  // MARK: - The end

  /// Stops sending. Calls that run are cancelled, and their entries are sent again later. Returns when all results are
  /// recorded, or cannot be, and another process may send.
  func close() async {
    queue.async {
      self.isClosed = true
      self.stopTimer()
      for listener in self.listeners { listener.cancel() }
      for work in self.running.values { work.task?.cancel() }
      self.finishClosing()
    }
    await closed.value()
  }

  func finishClosing() {
    guard isClosed else { return }
    do { try saveUnsaved() } catch {
      // The next outbox that opens the folder queues the entries again.
      for ended in unsaved { running[ended.id] = nil }
      unsaved = []
    }
    guard running.isEmpty else { return }
    lease = nil
    watches.end()
    closed.set(())
  }
}

struct AccountWaker: OutboxWaker {
  let store: CredentialStore

  var wakes: AsyncStream<Void> {
    let changes = store.changes
    return AsyncStream { continuation in
      let task = Task {
        for await change in changes where Self.isWake(change) { continuation.yield() }
        continuation.finish()
      }
      continuation.onTermination = { _ in task.cancel() }
    }
  }

  /// Whether entries that waited for a login may now be sent. The outbox itself causes refreshes, so they do not count.
  static func isWake(_ change: AccountChange) -> Bool {
    switch change {
    case .loggedIn, .switched, .loggedOut: true
    case .refreshed, .notKept: false
    }
  }
}
