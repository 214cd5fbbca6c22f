import ErrandCache
import ErrandCore

/// What waits for Redis, what is under way, and whether Redis can be reached. Decides, and performs nothing.
///
/// | phase | a question | a change | goes on when |
/// |---|---|---|---|
/// | idle: not tried, or left in peace | waits | waits | something waits: connecting |
/// | connecting, the first time | waits | waits | connected: ready; failed: down |
/// | connecting, after a failure | refused | owed | the same |
/// | ready | sent | sent | lost with something under way, or before any answer: down; else idle |
/// | down | refused | owed | the back-off is over and something is owed or was asked: connecting |
///
/// A connection that is lost takes everything under way with it: questions are refused, changes are owed. An answer
/// that was to be stored becomes the removal of what it would have replaced (see ``RedisDebts``).
struct RedisTraffic: Sendable {
  enum Phase: Sendable, Equatable {
    case idle, connecting(until: MonotonicInstant), ready, down(until: MonotonicInstant)
  }

  /// What the thread does next.
  enum Step: Sendable {
    case connect
    case send([RedisJob])
    /// Redis took too long: drop the connection.
    case giveUp
    case wait(until: MonotonicInstant?)
    case end
  }

  /// The most commands under way: what is behind them can still be taken back.
  static let mostSent = 64

  let limits: RedisLimits
  private(set) var phase = Phase.idle
  private var waiting = FIFO<RedisJob>()
  private var sent = FIFO<RedisJob>()
  private var debts = RedisDebts()
  private var failures = 0
  /// Whether this connection has been of use.
  private var hasAnswered = false
  private var isWanted = false
  private var isClosing = false
  private var hasEnded = false
  private var lastProgress = MonotonicInstant(nanoseconds: 0)
  private var nextNumber: UInt64 = 0
  private var unfinished = 0
  private var backlog = 0
  private var barriers: [Barrier] = []

  /// Somebody who waits for the changes before a number.
  private struct Barrier: Sendable {
    let number: UInt64
    var left: Int
    let ticket: RedisTicket
  }

  init(limits: RedisLimits) { self.limits = limits }

  /// Whether Redis answers, as far as is known: nobody waits for one that does not.
  var isTrusted: Bool {
    switch phase {
    case .ready: true
    case .idle, .connecting: failures == 0
    case .down: false
    }
  }

  // MARK: - Adding

  /// Adds a question. False where no answer will come.
  mutating func ask(_ call: RedisCall, _ ticket: RedisTicket) -> Bool {
    guard !hasEnded else { return false }
    guard isTrusted else {
      isWanted = true
      return false
    }
    waiting.append(.ask(call, ticket))
    return true
  }

  mutating func write(_ write: RedisWrite) {
    guard !hasEnded else { return }
    guard isTrusted else { return owe(write) }
    if case .put(let entry) = write, !hasRoom(for: write) {
      return self.write(.displace(entry.key, variant: entry.head.variant))
    }
    nextNumber += 1
    unfinished += 1
    backlog += write.cost
    waiting.append(.write(write, number: nextNumber))
  }

  /// Whether the backlog has room for a change.
  func hasRoom(for write: RedisWrite) -> Bool { write.cost <= limits.backlog - backlog }

  /// Whether Redis has taken all changes.
  var isSettled: Bool { unfinished == 0 && debts.isEmpty }

  /// Whether something is owed that somebody asked to remove.
  var owesRemovals: Bool { debts.hasRemovals }

  /// Waits for all changes before. False where there is nothing to wait for.
  mutating func barrier(_ ticket: RedisTicket) -> Bool {
    guard !hasEnded, unfinished > 0 else { return false }
    barriers.append(Barrier(number: nextNumber, left: unfinished, ticket: ticket))
    return true
  }

  /// Notes a change that cannot be made now.
  mutating func owe(_ write: RedisWrite) {
    isWanted = true
    debts.add(write)
  }

  mutating func close() { isClosing = true }

  // MARK: - The thread's side

  /// Says what to do next.
  /// - Parameter hasRoom: Whether what was sent before has left this process.
  mutating func next(now: MonotonicInstant, hasRoom: Bool) -> Step {
    switch phase {
    case .idle: return idle(now)
    case .connecting(let until): return now >= until ? .giveUp : .wait(until: until)
    case .ready: return ready(now, hasRoom)
    case .down(let until): return down(now, until)
    }
  }

  private mutating func idle(_ now: MonotonicInstant) -> Step {
    guard !waiting.isEmpty || !debts.isEmpty else { return isClosing ? end() : .wait(until: nil) }
    return connect(now)
  }

  private mutating func down(_ now: MonotonicInstant, _ until: MonotonicInstant) -> Step {
    if isClosing { return end() }
    guard isWanted || !debts.isEmpty else { return .wait(until: nil) }
    return now >= until ? connect(now) : .wait(until: until)
  }

  private mutating func connect(_ now: MonotonicInstant) -> Step {
    isWanted = false
    phase = .connecting(until: now.advanced(by: limits.connect))
    return .connect
  }

  private mutating func ready(_ now: MonotonicInstant, _ hasRoom: Bool) -> Step {
    if sent.isEmpty { lastProgress = now }
    let due = lastProgress.advanced(by: limits.command)
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

  /// Takes what is sent next: as much as goes into one go. Questions that nobody waits for any more fall away.
  private mutating func take() -> [RedisJob] {
    var jobs: [RedisJob] = []
    var cost = 0
    while sent.count < Self.mostSent, cost < limits.oneGo, let job = waiting.popFirst() {
      if case .ask(_, let ticket) = job, !ticket.isOpen { continue }
      if case .write(let write, _) = job { cost += write.cost }
      sent.append(job)
      jobs.append(job)
    }
    return jobs
  }

  /// Notes that Redis took or gave something.
  mutating func progressed(_ now: MonotonicInstant) { lastProgress = now }

  /// Notes that commands can be sent. What is owed goes first.
  mutating func connected(_ now: MonotonicInstant) {
    phase = .ready
    hasAnswered = false
    lastProgress = now
    let newer = waiting.takeAll()
    for write in debts.pay() { self.write(write) }
    for job in newer { waiting.append(job) }
  }

  /// Takes the job that a reply belongs to. Nil where Redis answered what nobody asked.
  mutating func answered(_ now: MonotonicInstant) -> RedisJob? {
    lastProgress = now
    guard let job = sent.popFirst() else { return nil }
    failures = 0
    hasAnswered = true
    return job
  }

  /// Goes on with a change, or ends it. Returns whom that wakes.
  mutating func finish(_ write: RedisWrite, _ number: UInt64, next: RedisWrite?) -> [RedisTicket] {
    backlog -= write.cost
    if let next {
      waiting.append(.write(next, number: number))
      return []
    }
    unfinished -= 1
    for index in barriers.indices where number <= barriers[index].number { barriers[index].left -= 1 }
    let done = barriers.filter { $0.left <= 0 }.map(\.ticket)
    if !done.isEmpty { barriers.removeAll { $0.left <= 0 } }
    return done
  }

  /// Notes that the connection is gone, or did not come. Returns whom no answer will come to.
  mutating func lost(_ now: MonotonicInstant, spread: Double) -> [RedisTicket] {
    // Where something is owed the connection was given up, since Redis refused it.
    let wasLeftInPeace = phase == .ready && sent.isEmpty && hasAnswered && debts.isEmpty
    var tickets: [RedisTicket] = []
    if wasLeftInPeace {
      phase = .idle
      return tickets
    }
    failures += 1
    phase = .down(until: now.advanced(by: RedisBackOff.delay(failures: failures, spread: spread)))
    for job in sent.takeAll() + waiting.takeAll() {
      switch job {
      case .ask(_, let ticket): tickets.append(ticket)
      case .write(let write, _): debts.add(write)
      }
    }
    tickets += barriers.map(\.ticket)
    barriers = []
    unfinished = 0
    backlog = 0
    return tickets
  }
}

/// What stands in the queue for Redis.
enum RedisJob: Sendable {
  /// Somebody waits for the answer.
  case ask(RedisCall, RedisTicket)
  /// Nobody waits; the number says which change it belongs to.
  case write(RedisWrite, number: UInt64)
}
