import ErrandCache
import ErrandCore

/// The queue of commands for Redis, the commands without a reply yet, and the state of the connection. This type is a
/// state machine without side effects.
///
/// A request is a command whose caller waits for the reply. A change is a command that modifies the stored entries; no
/// caller waits for the reply.
///
/// | phase | request | change | next phase |
/// |---|---|---|---|
/// | idle: not connected yet, or closed while unused | waits | waits | connecting, when something waits |
/// | connecting, the first time | waits | waits | ready when connected, down after a failure |
/// | connecting, after a failure | rejected | recorded as pending removal | ready when connected, down after a failure |
/// | ready | sent | sent | down if the connection is lost and a reply is missing, or before any reply; otherwise idle |
/// | down | rejected | recorded as pending removal | connecting, after the back-off, if there is a pending removal or a request |
///
/// If a connection is lost, the commands without a reply are lost, too. The requests among them get no result, and the
/// changes are recorded as pending removals (see ``RedisPendingRemovals``). If a response should have been stored, the
/// older entries under its key are removed.
struct RedisCommandQueue: Sendable {
  enum Phase: Sendable, Equatable {
    case idle, connecting(until: MonotonicInstant), ready, down(until: MonotonicInstant)
  }

  /// The next action of the thread that communicates with Redis.
  enum Step: Sendable {
    case connect
    case send([RedisJob])
    /// Close the connection, because Redis has not replied in time.
    case giveUp
    case wait(until: MonotonicInstant?)
    case end
  }

  /// The maximum number of commands that are sent before their replies arrive. Further commands wait in the queue,
  /// where callers can still withdraw them.
  static let mostSent = 64
  /// The approximate number of bytes that are passed to the connection at once.
  private static let oneGo = 1 << 20

  private let settings: RedisSettings
  private(set) var phase = Phase.idle
  private var waiting = FIFO<RedisJob>()
  private var sent = FIFO<RedisJob>()
  private var pendingRemovals = RedisPendingRemovals()
  private var failures = 0
  /// Whether Redis has replied to a command on the current connection, and has not rejected a change since.
  private var hasReplied = false
  private var isWanted = false
  private var isClosing = false
  private var hasEnded = false
  /// Whether a removal was requested after ``close()``, so that Redis does not receive it.
  private var hasLostRemoval = false
  private var lastProgress = MonotonicInstant(nanoseconds: 0)
  private var nextNumber: UInt64 = 0
  private var unfinished = 0
  private var backlog = 0
  private var barriers: [Barrier] = []

  /// A caller that waits until Redis has applied all changes up to the change with this `number`.
  private struct Barrier: Sendable {
    let number: UInt64
    var left: Int
    let pendingReply: PendingReply
  }

  init(_ settings: RedisSettings) { self.settings = settings }

  /// Whether Redis counts as available. If not, calls do not wait for Redis.
  var isTrusted: Bool {
    switch phase {
    case .ready: true
    case .idle, .connecting: failures == 0
    case .down: false
    }
  }

  // MARK: - Adding

  /// Adds a command whose caller waits for the reply. Returns false if Redis is unavailable, so that no reply will
  /// arrive.
  mutating func request(_ call: RedisCall, _ pendingReply: PendingReply) -> Bool {
    guard !isClosing else { return false }
    guard isTrusted else {
      isWanted = true
      return false
    }
    waiting.append(.request(call, pendingReply))
    return true
  }

  mutating func write(_ write: RedisWrite) {
    guard isClosing else { return add(write) }
    if case .remove = write { hasLostRemoval = true }
  }

  private mutating func add(_ write: RedisWrite) {
    guard isTrusted else { return recordPending(write) }
    if case .put(let entry) = write, !hasRoom(for: write) {
      return add(.displace(entry.key))
    }
    nextNumber += 1
    unfinished += 1
    backlog += write.cost
    waiting.append(.write(write, number: nextNumber))
  }

  /// Whether a change can be added without exceeding the limit for pending entries.
  func hasRoom(for write: RedisWrite) -> Bool { write.cost <= max(0, settings.backlogLimit) - backlog }

  /// Whether Redis has applied all changes.
  var isSettled: Bool { unfinished == 0 && pendingRemovals.isEmpty && !hasLostRemoval }

  /// Whether removals that a caller requested are pending.
  var hasPendingRemovals: Bool { pendingRemovals.hasRemovals || hasLostRemoval }

  /// Registers a caller that waits until all earlier changes have been applied. Returns false if no change is pending.
  mutating func barrier(_ pendingReply: PendingReply) -> Bool {
    guard !hasEnded, unfinished > 0 else { return false }
    barriers.append(Barrier(number: nextNumber, left: unfinished, pendingReply: pendingReply))
    return true
  }

  /// Records a change as a pending removal, because the change cannot be sent now, or because Redis has rejected it.
  mutating func recordPending(_ write: RedisWrite) {
    isWanted = true
    // After a rejection, the end of the connection is a failure, even if nothing is left to remove.
    hasReplied = false
    pendingRemovals.add(write)
  }

  /// Called when Redis uses another salt than before. Digests under the old salt do not select entries any more, so
  /// the waiting and recorded removals that contain them become removals of all entries. Returns the ``PendingReply``
  /// values of the callers that can now stop waiting.
  mutating func saltChanged() -> [PendingReply] {
    pendingRemovals.saltChanged()
    var done: [PendingReply] = []
    // Whether a waiting change removes all entries and no later one stores an entry.
    var removesAll = false
    for job in waiting.takeAll() {
      guard case .write(let write, let number) = job else {
        waiting.append(job)
        continue
      }
      guard let valid = write.afterSaltChange, !(removesAll && valid.removesAll) else {
        done += finish(write, number, next: nil)
        continue
      }
      if case .put = valid { removesAll = false } else if valid.removesAll { removesAll = true }
      waiting.append(.write(valid, number: number))
    }
    return done
  }

  /// Accepts no further commands, and ends the queue after the pending ones.
  mutating func close() { isClosing = true }

  // MARK: - The thread's side

  /// Decides the next action of the thread that communicates with Redis.
  /// - Parameter hasRoom: Whether the operating system has accepted all bytes of the earlier commands.
  mutating func next(now: MonotonicInstant, hasRoom: Bool) -> Step {
    switch phase {
    case .idle: return idle(now)
    case .connecting(let until): return now >= until ? .giveUp : .wait(until: until)
    case .ready: return ready(now, hasRoom)
    case .down(let until): return down(now, until)
    }
  }

  private mutating func idle(_ now: MonotonicInstant) -> Step {
    guard !waiting.isEmpty || !pendingRemovals.isEmpty else { return isClosing ? end() : .wait(until: nil) }
    return connect(now)
  }

  private mutating func down(_ now: MonotonicInstant, _ until: MonotonicInstant) -> Step {
    if isClosing { return end() }
    guard isWanted || !pendingRemovals.isEmpty else { return .wait(until: nil) }
    return now >= until ? connect(now) : .wait(until: until)
  }

  private mutating func connect(_ now: MonotonicInstant) -> Step {
    isWanted = false
    phase = .connecting(until: now.advanced(by: settings.connectTimeout))
    return .connect
  }

  private mutating func ready(_ now: MonotonicInstant, _ hasRoom: Bool) -> Step {
    if sent.isEmpty { lastProgress = now }
    let due = lastProgress.advanced(by: settings.commandTimeout)
    if !sent.isEmpty, now >= due { return .giveUp }
    if hasRoom {
      let jobs = take()
      if !jobs.isEmpty { return .send(jobs) }
    }
    if isClosing, sent.isEmpty, waiting.isEmpty { return end() }
    return .wait(until: sent.isEmpty ? nil : due)
  }

  private mutating func end() -> Step {
    hasEnded = true
    return .end
  }

  /// Takes the next commands to send, at most as many as one batch may contain. Commands whose caller no longer waits
  /// for the reply are skipped.
  private mutating func take() -> [RedisJob] {
    var jobs: [RedisJob] = []
    var cost = 0
    while sent.count < Self.mostSent, cost < Self.oneGo, let job = waiting.popFirst() {
      if case .request(_, let pendingReply) = job, !pendingReply.isOpen { continue }
      if case .write(let write, _) = job { cost += write.cost }
      sent.append(job)
      jobs.append(job)
    }
    return jobs
  }

  /// Records that bytes were sent to Redis or received from Redis.
  mutating func progressed(_ now: MonotonicInstant) { lastProgress = now }

  /// Records that the connection to Redis is ready for commands. The pending removals are sent before all other
  /// commands.
  mutating func connected(_ now: MonotonicInstant) {
    phase = .ready
    hasReplied = false
    lastProgress = now
    let newer = waiting.takeAll()
    for write in pendingRemovals.takeAll() { add(write) }
    for job in newer { waiting.append(job) }
  }

  /// Removes and returns the command that a reply belongs to. Nil if no reply was expected.
  mutating func replied(_ now: MonotonicInstant) -> RedisJob? {
    lastProgress = now
    guard let job = sent.popFirst() else { return nil }
    failures = 0
    hasReplied = true
    return job
  }

  /// Adds `next`, the next command of a change, to the queue. If `next` is nil, the change is complete. Returns the
  /// ``PendingReply`` values of the callers that can now stop waiting.
  mutating func finish(_ write: RedisWrite, _ number: UInt64, next: RedisWrite?) -> [PendingReply] {
    backlog -= write.cost
    if let next {
      waiting.append(.write(next, number: number))
      return []
    }
    unfinished -= 1
    for index in barriers.indices where number <= barriers[index].number { barriers[index].left -= 1 }
    let done = barriers.filter { $0.left <= 0 }.map(\.pendingReply)
    if !done.isEmpty { barriers.removeAll { $0.left <= 0 } }
    return done
  }

  /// Records that the connection to Redis is lost or could not be established. Returns the ``PendingReply`` values of
  /// the commands that get no reply.
  mutating func lost(_ now: MonotonicInstant, spread: Double) -> [PendingReply] {
    // It is no failure if Redis closes a connection on which no reply is missing. But if Redis has rejected a change,
    // and the store has closed the connection, that is a failure (see `recordPending`).
    let wasLeftInPeace = phase == .ready && sent.isEmpty && hasReplied && pendingRemovals.isEmpty
    var pendingReplies: [PendingReply] = []
    if wasLeftInPeace {
      phase = .idle
      return pendingReplies
    }
    failures += 1
    phase = .down(until: now.advanced(by: RedisBackOff.delay(failures: failures, spread: spread)))
    for job in sent.takeAll() + waiting.takeAll() {
      switch job {
      case .request(_, let pendingReply): pendingReplies.append(pendingReply)
      case .write(let write, _): pendingRemovals.add(write)
      }
    }
    pendingReplies += barriers.map(\.pendingReply)
    barriers = []
    unfinished = 0
    backlog = 0
    return pendingReplies
  }
}

enum RedisJob: Sendable {
  /// A command whose caller waits for the reply.
  case request(RedisCall, PendingReply)
  /// A command that belongs to a change of the stored entries. No caller waits for its reply. The number identifies the
  /// change if it takes several commands.
  case write(RedisWrite, number: UInt64)
}

/// The pause before the next attempt to connect to Redis. It is doubled after each failure, up to five seconds.
enum RedisBackOff {
  static let first = Duration.milliseconds(100)
  static let longest = Duration.seconds(5)

  /// Returns the pause before the next attempt.
  /// - Parameters:
  ///   - failures: The number of consecutive failures, from 1.
  ///   - spread: A random number from 0 to 1. It varies the pause, so that application servers do not all connect at
  ///     the same moment.
  static func delay(failures: Int, spread: Double) -> Duration {
    let doublings = min(max(failures - 1, 0), 10)
    let full = min(first * (1 << doublings), longest)
    return full * (0.5 + 0.5 * min(max(spread, 0), 1))
  }
}

struct FIFO<Element: Sendable>: Sendable {
  private var items: [Element?] = []
  private var head = 0

  var isEmpty: Bool { head == items.count }
  var count: Int { items.count - head }
  var first: Element? { isEmpty ? nil : items[head] }

  mutating func append(_ item: Element) { items.append(item) }

  mutating func popFirst() -> Element? {
    guard !isEmpty else { return nil }
    defer {
      items[head] = nil
      head += 1
      if head == items.count || head > 1_024 {
        items.removeFirst(head)
        head = 0
      }
    }
    return items[head]
  }

  /// Removes all elements and returns them in their order.
  mutating func takeAll() -> [Element] {
    defer { self = FIFO() }
    return items[head...].compactMap { $0 }
  }
}
