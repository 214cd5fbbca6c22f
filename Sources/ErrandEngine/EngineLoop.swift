#if os(Linux)
  import Dispatch
  import ErrandDecoding
  import ErrandHTTP
  import ErrandSupport
  import ErrandTLS
  import Synchronization

  /// A connection or a stream that continues in the next iteration of the loop.
  protocol LoopWork: AnyObject {
    /// True if the loop continues with this object in its next iteration.
    var isQueued: Bool { get set }
    var isOpen: Bool { get }
    func continueTurn()
  }

  /// The number of bytes that a connection has read, or written, in one iteration of the loop. The number is limited, so
  /// that other connections continue.
  ///
  /// In one iteration, several events may let a connection continue: an event of its socket, a sink that accepts bytes
  /// again, and the rest of the last iteration. They share the limit.
  struct TurnShare {
    /// The maximum number of bytes in one iteration.
    static let most = 512 << 10

    private var turn: UInt64 = 0
    private var used = 0

    /// The number of bytes that may follow in an iteration; not above zero if the limit is reached.
    mutating func left(in turn: UInt64) -> Int {
      if turn != self.turn { (self.turn, used) = (turn, 0) }
      return Self.most - used
    }

    /// Counts bytes of the iteration for which ``left(in:)`` was called last.
    mutating func use(_ count: Int) { used += count }
  }

  /// The event loop: the thread that runs all exchanges of one configuration. The thread performs commands, runs
  /// timers, reads and writes sockets, and sleeps.
  ///
  /// Other threads only add commands and timers to the inbox and wake the loop's thread. Only the loop's thread uses
  /// connections and exchanges. Each configuration has its own loop and its own connections.
  final class EngineLoop: TransportLoop, @unchecked Sendable {  // `inbox` has a lock; the rest belongs to the thread
    /// A command that another thread sends to the event loop.
    enum Command: Sendable {
      /// Begin the exchange.
      case submit(EngineExchange)
      /// End the exchange at once because its caller was stopped.
      case abort(EngineExchange)
      /// Continue the response body because its sink accepts bytes again.
      case resumeBody(EngineExchange)
      /// Continue the request body because its source may have bytes again.
      case resumeUpload(EngineExchange)
      /// Continue the exchanges that wait for the lookup of a host.
      case resolved(HTTPURL.Origin, NameLookups.Answer)
      /// Run a job of a task that prefers the loop's thread.
      case run(UnownedJob, LoopThread<EngineLoop>)
    }

    private typealias Job = (job: UnownedJob, executor: LoopThread<EngineLoop>)

    static let threadName = "errand.engine"
    static let scratchSize = 64 << 10
    private static let uploadSize = 256 << 10
    private static let downloadSize = 512 << 10
    /// The maximum number of times that commands and jobs are run before the sockets are checked. Each job may add
    /// commands.
    private static let roundsPerTurn = 4

    let configuration: EngineConfiguration
    /// The identity of a transport with the configuration, which takes time to compute.
    let identity: String?
    /// The address overrides of the configuration.
    let overrides: [HTTPURL.Origin: [SocketAddress]]
    /// The trust settings of the configuration.
    let trust: TrustSettings
    let names: NameLookups
    /// The poller for the sockets. Nil if the system has no resources for the poller.
    let poller: Poller?
    private let inbox = Locked(LoopInbox<Command>())
    /// The number of the loop's thread; zero if the loop has none.
    private let threadID = Atomic<UInt>(0)

    // MARK: The loop's thread only
    //
    // Properties that every exchange changes are not checked for exclusive access, because the checks took one in
    // twenty instructions. Only the loop's thread uses them, and no change of them calls code that uses them.

    /// The buffer for received bytes.
    private let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: scratchSize, alignment: 16)
    /// The output buffer for decoded content.
    let decodingBuffer = UnsafeMutableRawBufferPointer.allocate(byteCount: scratchSize, alignment: 16)
    private var downloadBuffer: UnsafeMutableRawBufferPointer?
    private var uploadMemory: UnsafeMutableRawBufferPointer?
    @exclusivity(unchecked) var requests = RequestBuffer()  // the thread makes one change at a time
    var tls: TLSContexts
    var requestHead = HTTP2RequestHead()
    /// The time at which the loop's thread last woke up or began to perform commands.
    @exclusivity(unchecked) private(set) var now = MonotonicInstant.now  // the thread makes one change at a time
    /// The number of the current iteration.
    @exclusivity(unchecked) private(set) var turn: UInt64 = 0  // the thread makes one change at a time
    /// The number of bytes that may still be decoded in this iteration of the loop.
    @exclusivity(unchecked) var decoding = DecodingBudget()  // the thread makes one change at a time
    @exclusivity(unchecked) var sockets = SocketTable()  // the thread makes one change at a time
    @exclusivity(unchecked) var pool: IdlePool<EngineConnection>  // the thread makes one change at a time
    var sharedPool: SharedPool<HTTP2Connection>
    /// The exchanges that open a connection which others will share, by origin.
    var openings: [HTTPURL.Origin: HTTP2Opening] = [:]
    /// The exchanges that wait until an HTTP/2 connection takes another stream, by origin.
    var crowds: [HTTPURL.Origin: [EngineExchange]] = [:]
    /// The origins whose connections may take one of the exchanges in ``crowds``.
    var relieved: Set<HTTPURL.Origin> = []
    /// The origins whose servers have chosen HTTP/1.1. Their connections are not shared.
    var http1Origins: Set<HTTPURL.Origin> = []
    /// The origins whose servers have required HTTP/1.1 over HTTP/2. No HTTP/2 is offered to them any more.
    var http1RequiredOrigins: Set<HTTPURL.Origin> = []
    /// The origins whose servers accept fewer concurrent streams than a client may assume, with their limits.
    var streamLimits: [HTTPURL.Origin: Int] = [:]
    /// The state of the authentication to each proxy of the configuration.
    var proxyAuthentications: [EngineProxy: ProxyAuthentication] = [:]
    @exclusivity(unchecked) var watches = WatchList<EngineExchange>()  // the thread makes one change at a time
    /// The running lookups of hosts, by origin.
    var lookups: [HTTPURL.Origin: HostLookup] = [:]
    @exclusivity(unchecked) private var commands: [Command] = []  // the thread makes one change at a time
    @exclusivity(unchecked) private var jobs: [Job] = []  // the thread makes one change at a time
    @exclusivity(unchecked) private var runningJobs: [Job] = []  // the thread makes one change at a time
    private var ready: [any LoopWork] = []
    private var continuing: [any LoopWork] = []
    /// The HTTP/2 connections with bytes that are sent at the end of the current work.
    var unflushed: [HTTP2Connection] = []
    /// The exchanges that look for another connection at the end of the current work. libnghttp2 may be at work now, and
    /// must not be called for other connections.
    var unplaced: [EngineExchange] = []
    /// The exchanges that waited for the connection of an exchange that has ended. At the end of the current work, the
    /// first of them that has not ended opens a connection. Their connect time-outs continue.
    var stranded: [EngineExchange] = []
    @exclusivity(unchecked) private var ended: [EngineExchange] = []  // the thread makes one change at a time

    init(
      _ configuration: EngineConfiguration, _ overrides: [HTTPURL.Origin: [SocketAddress]] = [:],
      _ trust: TrustSettings = .standard, names: NameLookups = .shared
    ) {
      self.configuration = configuration
      identity = configuration.identity
      self.overrides = overrides
      self.trust = trust
      self.names = names
      tls = TLSContexts(trust, minimum: configuration.minimumTLSVersion)
      poller = Poller()
      pool = IdlePool(
        most: configuration.maximumIdleConnections, mostPerOrigin: configuration.maximumIdleConnectionsPerHost,
        age: configuration.maximumIdleAge)
      sharedPool = SharedPool(most: configuration.maximumIdleConnections, age: configuration.maximumIdleAge)
    }

    static func makeLoop(_ configuration: EngineConfiguration) throws(EngineConfiguration.Invalid) -> EngineLoop {
      try configuration.loop()
    }

    func makeReplacement() -> EngineLoop { EngineLoop(configuration, overrides, trust) }

    deinit {
      scratch.deallocate()
      decodingBuffer.deallocate()
      downloadBuffer?.deallocate()
      uploadMemory?.deallocate()
    }

    /// True if the loop can run: the system had the resources for its poller.
    var isUsable: Bool { poller != nil }

    // MARK: - Any thread

    func withInbox<Result: Sendable>(_ body: (inout LoopInbox<Command>) -> Result) -> Result {
      inbox.withLock { body(&$0) }
    }

    func wake() { poller?.wake() }

    func run(_ job: UnownedJob, on executor: LoopThread<EngineLoop>) {
      guard threadID.load(ordering: .relaxed) == currentThread else { return push(.run(job, executor)) }
      jobs.append((job, executor))
    }

    /// Refuses a command because the loop has no thread. An exchange fails. A job runs on a global queue.
    func refuse(_ command: Command) {
      switch command {
      case .submit(let exchange):
        exchange.result = .failure(exchange.failure(.other, FailureText.outOfResources))
        exchange.wakeup?.resume()
      case .run(let job, let executor):
        DispatchQueue.global().async { job.runSynchronously(on: executor.asUnownedTaskExecutor()) }
      case .abort, .resumeBody, .resumeUpload, .resolved: break
      }
    }

    // MARK: - The thread

    func run() {
      guard let poller else { return }
      threadID.store(currentThread, ordering: .relaxed)
      repeat {
        now = .now
        beginTurn()
        fireTimers(now)
        // Before the commands, which continue bodies that were paused. These could use up the decoding budget in each
        // iteration.
        continueReady()
        performCommands()
        // While the thread was busy, connections may have been established and responses may have arrived.
        if let due = watches.next, due <= now { handleEvents(poller, milliseconds: 0) }
        watch()
        wakeCallers()
        performCommands()
      } while waitForEvents(poller)
      for connection in pool.removeAll() { close(connection) }
      for connection in sharedPool.removeAll() { connection.finish() }
      threadID.store(0, ordering: .relaxed)
    }

    /// Waits for events, then handles the events of the sockets. Returns false if the thread must end.
    private func waitForEvents(_ poller: Poller) -> Bool {
      var wait: Int32 = 0
      if ready.isEmpty, jobs.isEmpty {
        let latest = MonotonicInstant.earliest(watches.next, .earliest(pool.nextExpiry, sharedPool.nextExpiry))
        let isBusy = watches.count > 0
        let now = MonotonicInstant.now
        switch inbox.withLock({ $0.decideSleep(now: now, latest: latest, isBusy: isBusy) }) {
        case .none: break
        case .end: return false
        case .sleep(let milliseconds): wait = milliseconds
        }
      }
      handleEvents(poller, milliseconds: wait)
      return true
    }

    /// Waits for events of the sockets for at most `milliseconds`, and handles them.
    private func handleEvents(_ poller: Poller, milliseconds: Int32) {
      var isFirst = true
      poller.wait(milliseconds: milliseconds) { report in
        if isFirst {
          now = .now
          inbox.withLock { $0.loop.wakeUp() }
          isFirst = false
        }
        handle(report)
      }
      wakeCallers()
    }

    /// Performs the commands and runs the jobs. Jobs may add commands, so this is repeated a few times. A request that
    /// a job submits is then sent at once.
    private func performCommands() {
      for _ in 0..<Self.roundsPerTurn {
        inbox.withLock { $0.take(&commands) }
        if commands.isEmpty, jobs.isEmpty { return }
        // The commands were submitted before this time. If `now` were older than a command, a time-out would end too
        // early.
        now = .now
        for command in commands { perform(command) }
        commands.removeAll(keepingCapacity: true)
        wakeCallers()
        runJobs()
      }
    }

    private func perform(_ command: Command) {
      switch command {
      case .submit(let exchange): start(exchange)
      case .abort(let exchange): fail(exchange, CancellationError())
      case .resumeBody(let exchange): resumeBody(exchange)
      case .resumeUpload(let exchange): resumeUpload(exchange)
      case .resolved(let origin, let answer): resolved(origin, answer)
      case .run(let job, let executor): jobs.append((job, executor))
      }
    }

    /// Runs the jobs that are queued now. Jobs that are added during this call are run by the next call.
    private func runJobs() {
      swap(&jobs, &runningJobs)
      for entry in runningJobs { entry.job.runSynchronously(on: entry.executor.asUnownedTaskExecutor()) }
      runningJobs.removeAll(keepingCapacity: true)
    }

    // MARK: - Loop iterations

    /// Begins an iteration, in which connections and decoders may use their limits again.
    func beginTurn() {
      turn += 1
      decoding = DecodingBudget()
    }

    /// Continues with a connection or a stream in the next iteration of the loop, after the others.
    func continueLater(with work: any LoopWork) {
      guard !work.isQueued else { return }
      work.isQueued = true
      ready.append(work)
    }

    /// Continues with the connections and streams of the last iteration. Those for which no decoding budget is left
    /// come first in the next iteration. Otherwise the same bodies would use up the budget in each iteration.
    func continueReady() {
      guard !ready.isEmpty else { return }
      swap(&ready, &continuing)
      var served: Int?
      for work in continuing {
        if served == nil, decoding.isTurnOver { served = ready.count }
        work.isQueued = false
        if work.isOpen { work.continueTurn() }
      }
      continuing.removeAll(keepingCapacity: true)
      if let served, served > 0 { ready = Array(ready[served...] + ready[..<served]) }
    }

    /// Records an exchange that has ended. Its caller is woken later in this iteration of the loop, together with the
    /// callers of other ended exchanges.
    func note(ended exchange: EngineExchange) { ended.append(exchange) }

    private func wakeCallers() {
      settleHTTP2()
      if ended.isEmpty { return }
      for exchange in ended { exchange.wakeup?.resume() }
      ended.removeAll(keepingCapacity: true)
    }

    // MARK: - Buffers

    /// The buffer for received bytes. The buffer is larger if the bytes go to a body sink. The bytes of a large body in
    /// memory arrive in their place.
    func receiveBuffer(for exchange: EngineExchange?) -> UnsafeMutableRawBufferPointer {
      if let space = exchange?.content?.freeSpace { return space }
      guard exchange?.exchange.sink != nil, case .sink = exchange?.content?.destination else { return scratch }
      if let downloadBuffer { return downloadBuffer }
      let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.downloadSize, alignment: 16)
      downloadBuffer = buffer
      return buffer
    }

    /// The buffer for a piece of a request body.
    var uploadBuffer: UnsafeMutableRawBufferPointer {
      if let uploadMemory { return uploadMemory }
      let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.uploadSize, alignment: 16)
      uploadMemory = buffer
      return buffer
    }
  }
#endif
