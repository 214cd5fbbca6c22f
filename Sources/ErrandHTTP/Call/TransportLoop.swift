public import ErrandSupport

// Every request uses the types of this file. The module of a loop specialises their inlinable functions for the loop.
//
// `schedule`, `cancel` and `enqueue` of `LoopThread` are not inlinable and run unspecialised. Only the witnesses of the
// protocol that they call are specialised, because the loop's module makes the witnesses. So `schedule` and `cancel`
// must be requirements of `TransportLoop`: otherwise `LoopThread` would call the unspecialised functions of its
// extension.

/// The commands for an event loop, and the state that decides when its thread wakes. Other threads share it with the
/// loop's thread.
@usableFromInline
package struct LoopInbox<Command: Sendable>: Sendable {
  @usableFromInline var commands: [Command] = []
  @usableFromInline package var loop = LoopState()

  package init() {}

  @inlinable package mutating func push(_ command: Command) -> LoopState.WakeDecision {
    let decision = loop.addCommand()
    if decision != .refuse { commands.append(command) }
    return decision
  }

  /// Moves the commands of the inbox into `taken`, which must be empty.
  @inlinable package mutating func take(_ taken: inout [Command]) {
    swap(&commands, &taken)
    loop.wakeUp()
  }

  /// Decides what the event loop does after its work.
  @inlinable package mutating func decideSleep(
    now: MonotonicInstant, latest: MonotonicInstant?, isBusy: Bool
  ) -> LoopState.SleepDecision {
    loop.decideSleep(now: now, latest: latest, hasCommands: !commands.isEmpty, isBusy: isBusy)
  }

  /// Handles a failed start of the loop's thread; see ``LoopState/abandon()``. Also returns the commands, which the
  /// caller must refuse.
  mutating func abandon() -> (commands: [Command], fallbackTime: MonotonicInstant?) {
    let left = commands
    commands = []
    return (left, loop.abandon())
  }
}

/// The event loop of a transport: the thread that runs all exchanges of one configuration.
///
/// Other threads only add commands and timers to the inbox and wake the loop's thread. The thread starts with the first
/// command or timer. ``LoopThread`` lets it end.
@usableFromInline
package protocol TransportLoop: AnyObject, Sendable {
  /// A command that another thread sends to the loop.
  associatedtype Command: Sendable
  associatedtype Configuration: Equatable
  /// The error for an invalid configuration.
  associatedtype Invalid: Error

  /// The name of the loop's thread.
  static var threadName: String { get }
  var configuration: Configuration { get }
  /// True if the loop can run: the system had the resources for the loop.
  var isUsable: Bool { get }

  /// Makes a loop: checks the configuration and reads its files.
  static func makeLoop(_ configuration: Configuration) throws(Invalid) -> Self
  /// Makes a loop with the same configuration and the same contents of its files.
  func makeReplacement() -> Self

  /// Runs `body` with exclusive access to the inbox.
  func withInbox<Result: Sendable>(_ body: (inout LoopInbox<Command>) -> Result) -> Result
  /// Wakes the loop's thread, which sleeps or is about to sleep.
  func wake()
  /// Starts a thread that runs the loop. Returns false if the system cannot create another thread.
  func startThread() -> Bool
  /// Runs the loop on the current thread until the loop ends.
  func run()
  /// Refuses a command because the loop has no thread.
  func refuse(_ command: Command)

  /// Runs a job of a task on the loop's thread.
  func run(_ job: UnownedJob, on executor: LoopThread<Self>)
  /// Runs `action` once on the loop's thread; see ``Timers``.
  func schedule(at instant: MonotonicInstant, _ action: @escaping @Sendable () -> Void) -> TimerToken
  /// Removes a scheduled action.
  func cancel(_ token: TimerToken)
}

extension TransportLoop {
  @usableFromInline package func startThread() -> Bool {
    DetachedThread.start(named: Self.threadName) { [self] in run() }
  }

  @inlinable package func push(_ command: Command) {
    let decision = isUsable ? withInbox { $0.push(command) } : .refuse
    if decision == .refuse { refuse(command) } else { perform(decision) }
  }

  @inlinable package func schedule(
    at instant: MonotonicInstant, _ action: @escaping @Sendable () -> Void
  ) -> TimerToken {
    let (token, decision) = withInbox { $0.loop.schedule(at: instant, action) }
    perform(decision)
    return token
  }

  @inlinable package func cancel(_ token: TimerToken) {
    let removed = withInbox { $0.loop.timers.remove(token) }
    _ = removed  // the removed action is released outside the lock
  }

  /// Runs the due timers. Called on the loop's thread.
  @inlinable package func fireTimers(_ now: MonotonicInstant) {
    while let action = withInbox({ $0.loop.timers.popDue(now) }) { action() }
  }

  /// Lets the loop's thread end when no exchange is left.
  func close() { perform(withInbox { $0.loop.close() }) }

  @usableFromInline func perform(_ decision: LoopState.WakeDecision) {
    switch decision {
    case .nothing, .refuse: break
    case .wake: wake()
    case .startThread: if !startThread() { abandon() }
    }
  }

  private func abandon() {
    let (commands, fallbackTime) = withInbox { $0.abandon() }
    for command in commands { refuse(command) }
    guard let fallbackTime else { return }
    _ = SharedTimers.shared.schedule(at: fallbackTime) { [weak self] in self?.runFallbackTimers() }
  }

  /// Runs the due timers while the loop has no thread, then tries to start the thread.
  private func runFallbackTimers() {
    while let action = withInbox({ $0.loop.popFallbackTimer(.now) }) { action() }
    perform(withInbox { $0.loop.endFallback() })
  }
}

/// The timers and the executor on the thread of an event loop. This object owns the thread: the thread ends when the
/// object is released and no exchange is left.
///
/// The executor runs jobs of tasks in the order in which they were added.
@usableFromInline
package final class LoopThread<Loop: TransportLoop>: Timers, TaskExecutor {
  @usableFromInline package let loop: Loop

  init(_ loop: Loop) { self.loop = loop }

  deinit { loop.close() }

  @usableFromInline package var now: MonotonicInstant { .now }

  @usableFromInline package func schedule(
    at instant: MonotonicInstant, _ action: @escaping @Sendable () -> Void
  ) -> TimerToken {
    loop.schedule(at: instant, action)
  }

  @usableFromInline package func cancel(_ token: TimerToken) { loop.cancel(token) }

  @usableFromInline package func enqueue(_ job: consuming ExecutorJob) { loop.run(UnownedJob(job), on: self) }
}

/// The current event loop of a transport. A change of the configuration replaces the loop. Running exchanges keep the
/// old loop; later exchanges use a new thread and new connections.
@usableFromInline
package struct LoopHolder<Loop: TransportLoop>: ~Copyable, Sendable {
  @usableFromInline let current: Locked<LoopThread<Loop>>
  /// A lock that is held while the configuration changes, so that concurrent changes do not overwrite each other.
  private let changing = Locked(())

  package init(_ loop: Loop) { current = Locked(LoopThread(loop)) }

  @inlinable package var thread: LoopThread<Loop> { current.withLock { $0 } }

  @inlinable package var loop: Loop { thread.loop }

  /// The timers of the loop. Nil if the system had no resources for the loop.
  @inlinable package var timers: (any Timers)? {
    let thread = thread
    return thread.loop.isUsable ? thread : nil
  }

  /// The thread of a usable loop. If the system had no resources for the current loop, a new loop is tried once. Nil if
  /// it is not usable either.
  @inlinable package var usableThread: LoopThread<Loop>? {
    let thread = thread
    return thread.loop.isUsable ? thread : secondThread(after: thread)
  }

  @usableFromInline func secondThread(after old: LoopThread<Loop>) -> LoopThread<Loop>? {
    let new = LoopThread(old.loop.makeReplacement())
    guard new.loop.isUsable else { return nil }
    return current.withLock { current in
      if current === old { current = new }
      return current
    }
  }

  /// Changes the configuration.
  /// - Throws: An error if the configuration is invalid. The old configuration then stays in use.
  package func update(_ configuration: Loop.Configuration) throws(Loop.Invalid) {
    try changing.withLock { _ throws(Loop.Invalid) in
      if configuration != loop.configuration { replace(with: try Loop.makeLoop(configuration)) }
    }
  }

  /// Reads the files of the configuration again.
  /// - Throws: An error if a file cannot be used. The old contents then stay in use.
  package func reload() throws(Loop.Invalid) {
    try changing.withLock { _ throws(Loop.Invalid) in replace(with: try Loop.makeLoop(loop.configuration)) }
  }

  private func replace(with loop: Loop) {
    let new = LoopThread(loop)
    let old = current.withLock { current in
      let old = current
      current = new
      return old
    }
    _ = old  // the old loop is released outside the lock
  }
}
