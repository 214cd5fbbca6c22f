import ErrandCache
import ErrandCore

/// The queue of commands for Redis, the commands without a reply yet, and the state of the connection. A state machine
/// without side effects.
///
/// | phase | question | change | next phase |
/// |---|---|---|---|
/// | idle: not connected yet, or closed while unused | waits | waits | connecting, when something waits |
/// | connecting, the first time | waits | waits | ready when connected, down after a failure |
/// | connecting, after a failure | rejected | recorded as debt | ready when connected, down after a failure |
/// | ready | sent | sent | down if the connection is lost and a reply is missing, or before any reply; otherwise idle |
/// | down | rejected | recorded as debt | connecting, after the back-off, if there is a debt or a question |
///
/// If a connection is lost, the commands without a reply are lost, too. Their questions get no result, and their
/// changes are recorded as debts. The debt of a response that should have been stored is the removal of the entry that
/// it would have replaced (see ``RedisDebts``).
struct RedisTraffic: Sendable {
  enum Phase: Sendable, Equatable {
    case idle, connecting(until: MonotonicInstant), ready, down(until: MonotonicInstant)
  }

  /// The next action of the thread.
  enum Step: Sendable {
    case connect
    case send([RedisJob])
    /// Close the connection, because Redis took too long.
    case giveUp
    case wait(until: MonotonicInstant?)
    case end
  }

  /// The maximum number of commands that are sent before their replies arrive. Further commands wait and can still be
  /// withdrawn.
  static let mostSent = 64

  let limits: RedisLimits
  private(set) var phase = Phase.idle
  private var waiting = FIFO<RedisJob>()
  private var sent = FIFO<RedisJob>()
  private var debts = RedisDebts()
  private var failures = 0
  /// Whether Redis has replied on this connection.
  private var hasAnswered = false
  private var isWanted = false
  private var isClosing = false
  private var hasEnded = false
  private var lastProgress = MonotonicInstant(nanoseconds: 0)
  private var nextNumber: UInt64 = 0
  private var unfinished = 0
  private var backlog = 0
  private var barriers: [Barrier] = []

  /// A caller that waits until all changes up to a number have been applied.
  private struct Barrier: Sendable {
    let number: UInt64
    var left: Int
    let ticket: RedisTicket
  }

  init(limits: RedisLimits) { self.limits = limits }

  /// Whether Redis is available as far as is known. If it is not, calls do not wait for Redis.
  var isTrusted: Bool {
    switch phase {
    case .ready: true
    case .idle, .connecting: failures == 0
    case .down: false
    }
  }

  // MARK: - Adding

  /// Adds a question. Returns false if there will be no reply.
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

  /// Whether a change can be added without exceeding the limit for pending entries.
  func hasRoom(for write: RedisWrite) -> Bool { write.cost <= limits.backlog - backlog }

  /// Whether Redis has applied all changes.
  var isSettled: Bool { unfinished == 0 && debts.isEmpty }

  /// Whether removals that a caller requested are recorded as debts.
  var owesRemovals: Bool { debts.hasRemovals }

  /// Adds a caller that waits for all earlier changes. Returns false if there are none.
  mutating func barrier(_ ticket: RedisTicket) -> Bool {
    guard !hasEnded, unfinished > 0 else { return false }
    barriers.append(Barrier(number: nextNumber, left: unfinished, ticket: ticket))
    return true
  }

  /// Records a change that cannot be sent now.
  mutating func owe(_ write: RedisWrite) {
    isWanted = true
    debts.add(write)
  }

  mutating func close() { isClosing = true }

  // MARK: - The thread's side

  /// Decides the next action of the thread.
  /// - Parameter hasRoom: Whether all earlier commands have been passed to the system.
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

  /// Takes the next commands to send, at most as many as one batch may contain. Questions whose caller has left are
  /// skipped.
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

  /// Records that bytes were sent or received.
  mutating func progressed(_ now: MonotonicInstant) { lastProgress = now }

  /// Records that the connection is ready for commands. Debts are sent first.
  mutating func connected(_ now: MonotonicInstant) {
    phase = .ready
    hasAnswered = false
    lastProgress = now
    let newer = waiting.takeAll()
    for write in debts.pay() { self.write(write) }
    for job in newer { waiting.append(job) }
  }

  /// Removes and returns the command that a reply belongs to. Nil if no reply was expected.
  mutating func answered(_ now: MonotonicInstant) -> RedisJob? {
    lastProgress = now
    guard let job = sent.popFirst() else { return nil }
    failures = 0
    hasAnswered = true
    return job
  }

  /// Adds the next command of a change, or ends the change if there is none. Returns the tickets of the callers to
  /// wake.
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

  /// Records that the connection is lost or could not be established. Returns the tickets that get no reply.
  mutating func lost(_ now: MonotonicInstant, spread: Double) -> [RedisTicket] {
    // If there are debts, the store itself closed the connection, because Redis rejected a change.
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

/// One element of the queue for Redis.
enum RedisJob: Sendable {
  /// A question whose caller waits for the reply.
  case ask(RedisCall, RedisTicket)
  /// A change. No caller waits for its reply. The number identifies the change if it takes several commands.
  case write(RedisWrite, number: UInt64)
}

/// The limits of the traffic with Redis.
struct RedisLimits: Sendable {
  /// The maximum time to connect.
  var connect = Duration.seconds(1)
  /// The maximum time in which Redis sends no bytes although a reply is missing.
  var command = Duration.seconds(2)
  /// The maximum size of all responses that wait to be written, in bytes.
  var backlog = 16 << 20
  /// The number of bytes that are passed to the connection at once (approximately).
  var oneGo = 1 << 20
}
