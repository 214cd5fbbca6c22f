#if os(Linux)
  import Dispatch
  import ErrandDecoding
  import ErrandHTTP
  import ErrandSupport
  import Synchronization

  /// The one thread that moves all exchanges of a configuration on: it takes commands, serves timers, reads and writes
  /// sockets, and sleeps.
  ///
  /// Other threads only put something into the inbox and wake it. Every connection and every exchange belongs to the
  /// thread, and connections under different configurations never meet.
  final class EngineLoop: @unchecked Sendable {  // shared state stands behind `inbox`; the rest is the thread's own
    static let scratchSize = 64 << 10
    private static let uploadSize = 256 << 10
    private static let downloadSize = 512 << 10
    /// How often commands are taken and jobs are run before the sockets are looked at.
    private static let roundsPerTurn = 4

    let configuration: EngineConfiguration
    /// Addresses that the configuration gives for hosts and ports.
    let overrides: [HTTPURL.Origin: [SocketAddress]]
    /// Nil if the system has no room for it.
    let poller: Poller?
    private let inbox = Locked(EngineInbox())
    private let thread = Atomic<UInt>(0)

    // MARK: The thread's own

    /// Room for received bytes.
    private let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: scratchSize, alignment: 16)
    /// Room to undo content codings in.
    let decodingRoom = UnsafeMutableRawBufferPointer.allocate(byteCount: scratchSize, alignment: 16)
    private var downloadRoom: UnsafeMutableRawBufferPointer?
    private var uploadMemory: UnsafeMutableRawBufferPointer?
    var requests = RequestBuffer()
    /// The present, as of the last time the thread woke up.
    private(set) var now = MonotonicInstant.now
    /// What may still be decoded in this turn.
    var decoding = DecodingBudget()
    var sockets = SocketTable()
    var pool: IdlePool<EngineConnection>
    var watches = WatchList<EngineExchange>()
    /// The exchanges that wait for the look-up of a host.
    var lookups: [HTTPURL.Origin: [Dialing]] = [:]
    private var commands: [EngineCommand] = []
    private var jobs: [(job: UnownedJob, executor: EngineExecutor)] = []
    private var runningJobs: [(job: UnownedJob, executor: EngineExecutor)] = []
    private var ready: [EngineConnection] = []
    private var continuing: [EngineConnection] = []
    private var ended: [EngineExchange] = []

    init(_ configuration: EngineConfiguration, _ overrides: [HTTPURL.Origin: [SocketAddress]]) {
      self.configuration = configuration
      self.overrides = overrides
      poller = Poller()
      pool = IdlePool(
        most: configuration.maximumIdleConnections, mostPerOrigin: configuration.maximumIdleConnectionsPerHost,
        age: configuration.maximumIdleAge)
    }

    deinit {
      scratch.deallocate()
      decodingRoom.deallocate()
      downloadRoom?.deallocate()
      uploadMemory?.deallocate()
    }

    /// Whether the system had room for it.
    var isUsable: Bool { poller != nil }

    // MARK: - Any thread

    func push(_ command: EngineCommand) {
      let duty = isUsable ? inbox.withLock { $0.push(command) } : .refuse
      if duty == .refuse { refuse(command) } else { perform(duty) }
    }

    /// Runs a job of a task on the thread.
    func run(_ job: UnownedJob, on executor: EngineExecutor) {
      guard thread.load(ordering: .relaxed) == currentThread else { return push(.run(job, executor)) }
      jobs.append((job, executor))
    }

    func schedule(at instant: MonotonicInstant, _ action: @escaping @Sendable () -> Void) -> TimerToken {
      let (token, duty) = inbox.withLock { $0.schedule(at: instant, action) }
      perform(duty)
      return token
    }

    func cancel(_ token: TimerToken) {
      let removed = inbox.withLock { $0.timers.remove(token) }
      _ = removed  // released here, outside the lock
    }

    /// Lets the thread end once no exchange is left.
    func close() { perform(inbox.withLock { $0.close() }) }

    private func perform(_ duty: EngineInbox.Duty) {
      switch duty {
      case .nothing, .refuse: break
      case .wake: poller?.wake()
      case .startThread: if !DetachedThread.start(named: "errand.engine", { [self] in run() }) { abandon() }
      }
    }

    private func abandon() {
      let (commands, standIn) = inbox.withLock { $0.abandon() }
      for command in commands { refuse(command) }
      if let standIn { _ = SharedTimers.shared.schedule(at: standIn) { [weak self] in self?.standIn() } }
    }

    /// Serves the timers while there is no thread, and tries to start it.
    private func standIn() {
      while let action = inbox.withLock({ $0.popStranded(.now) }) { action() }
      perform(inbox.withLock { $0.endStandIn() })
    }

    /// Fails what comes to a loop that has no thread. Jobs run elsewhere.
    private func refuse(_ command: EngineCommand) {
      switch command {
      case .submit(let exchange):
        exchange.result = .failure(exchange.failure(.other, FailureText.outOfRoom))
        exchange.wakeup?.resume()
      case .run(let job, let executor):
        DispatchQueue.global().async { job.runSynchronously(on: executor.asUnownedTaskExecutor()) }
      case .abort, .resumeBody, .resumeUpload, .resolved: break
      }
    }

    // MARK: - The thread

    private func run() {
      guard let poller else { return }
      thread.store(currentThread, ordering: .relaxed)
      repeat {
        now = .now
        decoding = DecodingBudget()
        fireTimers()
        performCommands()
        watch()
        continueReady()
        wakeCallers()
        performCommands()
      } while rest(poller)
      for connection in pool.removeAll() { close(connection) }
      thread.store(0, ordering: .relaxed)
    }

    /// Waits for something to do, and does what the sockets ask for. False when the thread shall end.
    private func rest(_ poller: Poller) -> Bool {
      var wait: Int32 = 0
      if ready.isEmpty, jobs.isEmpty {
        let latest = [watches.next, pool.nextExpiry].compactMap { $0 }.min()
        let isBusy = watches.count > 0
        switch inbox.withLock({ [now = MonotonicInstant.now] in $0.rest(now: now, latest: latest, isBusy: isBusy) }) {
        case .none: break
        case .end: return false
        case .sleep(let milliseconds): wait = milliseconds
        }
      }
      var isFirst = true
      poller.wait(milliseconds: wait) { report in
        if isFirst {
          now = .now
          inbox.withLock { $0.wakeUp() }
          isFirst = false
        }
        handle(report)
      }
      wakeCallers()
      return true
    }

    private func fireTimers() {
      let now = now
      while let action = inbox.withLock({ $0.timers.popDue(now) }) { action() }
    }

    /// Does what it was told, and what the jobs among that say in turn, so that their requests go out at once.
    private func performCommands() {
      for _ in 0..<Self.roundsPerTurn {
        inbox.withLock { $0.take(&commands) }
        if commands.isEmpty, jobs.isEmpty { return }
        // What begins here was submitted by now: no time-out counts from before that.
        now = .now
        for command in commands { perform(command) }
        commands.removeAll(keepingCapacity: true)
        wakeCallers()
        runJobs()
      }
    }

    private func perform(_ command: EngineCommand) {
      switch command {
      case .submit(let exchange): start(exchange)
      case .abort(let exchange): fail(exchange, CancellationError())
      case .resumeBody(let exchange): resumeBody(exchange)
      case .resumeUpload(let exchange): resumeUpload(exchange)
      case .resolved(let origin, let answer): resolved(origin, answer)
      case .run(let job, let executor): jobs.append((job, executor))
      }
    }

    /// Runs the jobs that are there now. Those that they make run in the next round.
    private func runJobs() {
      swap(&jobs, &runningJobs)
      for entry in runningJobs { entry.job.runSynchronously(on: entry.executor.asUnownedTaskExecutor()) }
      runningJobs.removeAll(keepingCapacity: true)
    }

    // MARK: - Turns

    /// Continues with a connection in a further turn, after the others have had theirs.
    func continueLater(with connection: EngineConnection) {
      guard !connection.isQueued else { return }
      connection.isQueued = true
      ready.append(connection)
    }

    private func continueReady() {
      guard !ready.isEmpty else { return }
      swap(&ready, &continuing)
      for connection in continuing {
        connection.isQueued = false
        if connection.isOpen { connection.continueTurn() }
      }
      continuing.removeAll(keepingCapacity: true)
    }

    /// Notes an exchange that has ended, whose caller is woken with all others of the turn.
    func note(ended exchange: EngineExchange) { ended.append(exchange) }

    private func wakeCallers() {
      if ended.isEmpty { return }
      for exchange in ended { exchange.wakeup?.resume() }
      ended.removeAll(keepingCapacity: true)
    }

    // MARK: - Room

    /// Room for received bytes: a large one if they go to a sink.
    func room(for exchange: EngineExchange?) -> UnsafeMutableRawBufferPointer {
      guard exchange?.exchange.sink != nil, case .sink = exchange?.content?.destination else { return scratch }
      if let downloadRoom { return downloadRoom }
      let room = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.downloadSize, alignment: 16)
      downloadRoom = room
      return room
    }

    /// Room for a piece of a request's body.
    var uploadRoom: UnsafeMutableRawBufferPointer {
      if let uploadMemory { return uploadMemory }
      let room = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.uploadSize, alignment: 16)
      uploadMemory = room
      return room
    }
  }
#endif
