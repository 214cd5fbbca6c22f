#if os(Linux)
  import ErrandSupport
  import CCurl
  import CErrandCurl
  import ErrandDecoding
  import ErrandHTTP
  import Foundation

  /// The thread that uses libcurl: it takes commands, advances all transfers, runs timers, and sleeps.
  ///
  /// Other threads only add commands to the inbox and wake the loop's thread. Every handle, connection and callback
  /// belongs to the loop's thread.
  final class CurlLoop: @unchecked Sendable {  // shared state is guarded by `inbox`; the rest belongs to the thread
    private static let scratchSize = 64 << 10
    private static let isLibraryReady: Bool = {
      errand_tls_outlive_exit()
      return curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK
    }()

    let configuration: CurlConfiguration
    let trust: CurlTrust
    /// libcurl's multi handle. Nil if the system had no memory or file descriptor for it.
    private let multi: UnsafeMutableRawPointer?
    private let inbox = Locked(CurlInbox())

    // MARK: Loop thread only

    let connections: CurlConnections
    /// Nil if only HTTP/1.1 is used. libcurl then reads one piece at a time, so no server can block the thread.
    let watchdog: CurlWatchdog?
    let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: scratchSize, alignment: 16)
    /// The time at which the thread last woke up.
    private(set) var now = MonotonicInstant.now
    private var taken: [CurlCommand] = []
    private var running: [CurlTransfer] = []
    private var ended: [CurlTransfer] = []
    private var nextWatch: MonotonicInstant?
    private var handshakes: UInt = 0
    private var pool = CurlHandlePool(allowsReuse: CurlVersion.running.allowsHandleReuse)
    /// The remaining decoding budget of this turn of the loop. A turn is one pass through the body of the loop in
    /// `run()`.
    var decoding = DecodingBudget()
    /// Transfers that stopped because the decoding budget was used up. They continue in the next turn, in the order in
    /// which they stopped.
    private var yielding: [CurlTransfer] = []
    private var resuming: [CurlTransfer] = []

    init(
      _ configuration: CurlConfiguration, _ trust: CurlTrust,
      multi makeMulti: (CurlConfiguration) -> UnsafeMutableRawPointer? = makeMulti
    ) {
      self.configuration = configuration
      self.trust = trust
      watchdog = configuration.effectiveVersion == .http1Only ? nil : CurlWatchdog()
      connections = CurlConnections(watchdog: watchdog)
      multi = Self.isLibraryReady ? makeMulti(configuration) : nil
    }

    deinit {
      pool.removeAll()
      if let multi { curl_multi_cleanup(multi) }
      scratch.deallocate()
    }

    /// A multi handle that can be woken up; nil if the system has no memory or file descriptor for it.
    static func makeMulti(_ configuration: CurlConfiguration) -> UnsafeMutableRawPointer? {
      guard let multi = curl_multi_init() else { return nil }
      guard curl_multi_wakeup(multi) == CURLM_OK else {
        curl_multi_cleanup(multi)
        return nil
      }
      errand_multi_set_long(multi, CURLMOPT_MAXCONNECTS, configuration.maximumIdleConnections)
      return multi
    }

    /// Whether libcurl was initialised.
    var isUsable: Bool { multi != nil }

    /// The versions that a response may have.
    func dialect(for scheme: HTTPURL.Scheme) -> HeadParser.Dialect {
      switch (configuration.effectiveVersion, scheme) {
      case (.http1Only, _), (.automatic, .http), (.http2, .http): .http1
      case (.http2PriorKnowledge, .http): .http2
      case (.automatic, .https), (.http2, .https), (.http2PriorKnowledge, .https): .either
      }
    }

    // MARK: - Any thread

    func push(_ command: CurlCommand) {
      let duty = isUsable ? inbox.withLock { $0.push(command) } : .refuse
      if duty == .refuse { refuse(command) } else { perform(duty) }
    }

    func schedule(at instant: MonotonicInstant, _ action: @escaping @Sendable () -> Void) -> TimerToken {
      let (token, duty) = inbox.withLock { $0.schedule(at: instant, action) }
      perform(duty)
      return token
    }

    func cancel(_ token: TimerToken) {
      let removed = inbox.withLock { $0.timers.remove(token) }
      _ = removed
    }

    /// Ends the thread once no transfer is running.
    func close() { perform(inbox.withLock { $0.close() }) }

    private func perform(_ duty: CurlInbox.Duty) {
      switch duty {
      case .nothing, .refuse: break
      case .wake: if let multi { curl_multi_wakeup(multi) }
      case .startThread: if !DetachedThread.start(named: "errand.curl", { [self] in run() }) { abandon() }
      }
    }

    private func abandon() {
      let (commands, standIn) = inbox.withLock { $0.abandon() }
      for command in commands { refuse(command) }
      if let standIn { _ = SharedTimers.shared.schedule(at: standIn) { [weak self] in self?.standIn() } }
    }

    /// Runs the timers while the loop has no thread, and tries to start the thread.
    private func standIn() {
      while let action = inbox.withLock({ $0.popStranded(.now) }) { action() }
      perform(inbox.withLock { $0.endStandIn() })
    }

    /// Fails the commands of a loop without a thread. Jobs run on the global queue.
    private func refuse(_ command: CurlCommand) {
      switch command {
      case .submit(let transfer):
        transfer.result = .failure(Self.outOfRoom(transfer))
        transfer.wakeup?.resume()
      case .run(let job, let executor):
        DispatchQueue.global().async { job.runSynchronously(on: executor.asUnownedTaskExecutor()) }
      case .abort, .resume, .resumeUpload: break
      }
    }

    // MARK: - The thread

    private func run() {
      guard let multi else { return }
      repeat {
        now = .now
        fireTimers()
        executeCommands(multi)
        watch(multi)
        resumeYielding(multi)
        perform(multi)
        collect(multi)
        wakeCallers()
      } while rest(multi)
      pool.removeAll()
    }

    private func perform(_ multi: UnsafeMutableRawPointer) {
      var count: Int32 = 0
      watchdog?.beginTurn()
      curl_multi_perform(multi, &count)
      watchdog?.endTurn()
    }

    /// Sleeps until there is work. Returns false if the thread must end.
    private func rest(_ multi: UnsafeMutableRawPointer) -> Bool {
      guard yielding.isEmpty else { return true }
      let latest = nextWatch
      let now = MonotonicInstant.now
      let count = running.count
      switch inbox.withLock({ $0.rest(now: now, latest: latest, running: count) }) {
      case .none: return true
      case .end: return false
      case .sleep(let milliseconds):
        curl_multi_poll(multi, nil, 0, milliseconds, nil)
        return true
      }
    }

    private func fireTimers() {
      let now = now
      while let action = inbox.withLock({ $0.timers.popDue(now) }) { action() }
    }

    /// Executes the commands, and then the commands that were added by executed jobs. So the requests of these jobs are
    /// sent in the same turn.
    private func executeCommands(_ multi: UnsafeMutableRawPointer) {
      for _ in 0..<4 {
        inbox.withLock { $0.take(&taken) }
        if taken.isEmpty { return }
        // Transfers that start here were submitted before this moment, so no time-out starts too early.
        now = .now
        for command in taken { execute(command, multi) }
        taken.removeAll(keepingCapacity: true)
      }
    }

    private func execute(_ command: CurlCommand, _ multi: UnsafeMutableRawPointer) {
      switch command {
      case .submit(let transfer): start(transfer, multi)
      case .abort(let transfer): end(transfer, .failure(CancellationError()), multi, handleIsClean: false)
      case .resume(let transfer): resume(transfer, multi)
      case .resumeUpload(let transfer): resumeUpload(transfer, multi)
      case .run(let job, let executor): job.runSynchronously(on: executor.asUnownedTaskExecutor())
      }
    }

    private func resumeUpload(_ transfer: CurlTransfer, _ multi: UnsafeMutableRawPointer) {
      guard let handle = transfer.handle, transfer.resumeUpload() else { return }
      unpause(transfer, handle, multi)
    }

    /// Resumes a paused body. During this call libcurl delivers the data that it has held. If a callback rejects the
    /// data, libcurl does not end the transfer, so this method ends it.
    private func resume(_ transfer: CurlTransfer, _ multi: UnsafeMutableRawPointer) {
      guard transfer.isPaused, let handle = transfer.handle else { return }
      transfer.isPaused = false
      transfer.isYielding = false
      unpause(transfer, handle, multi)
    }

    /// Continues a transfer in the next turn of the loop, after other work.
    func yield(_ transfer: CurlTransfer) { yielding.append(transfer) }

    /// Continues the bodies that stopped because the budget was used up, until the budget of this turn is used up, too.
    private func resumeYielding(_ multi: UnsafeMutableRawPointer) {
      decoding = DecodingBudget()
      guard !yielding.isEmpty else { return }
      swap(&yielding, &resuming)
      var count = 0
      while count < resuming.count, !decoding.isTurnOver {
        let transfer = resuming[count]
        count += 1
        if transfer.isYielding { resume(transfer, multi) }
      }
      // Transfers that were not continued in this turn come before those that have stopped again.
      resuming.removeFirst(count)
      yielding.insert(contentsOf: resuming, at: 0)
      resuming.removeAll(keepingCapacity: true)
    }

    private func unpause(_ transfer: CurlTransfer, _ handle: CurlHandle, _ multi: UnsafeMutableRawPointer) {
      transfer.lastActivity = now
      expectWatch(of: transfer)
      let code = curl_easy_pause(handle.easy, transfer.pause)
      if transfer.failure != nil || code != CURLE_OK { done(transfer, handle, code, multi) }
    }

    // MARK: - Start and end of a transfer

    private func start(_ transfer: CurlTransfer, _ multi: UnsafeMutableRawPointer) {
      transfer.started = now
      transfer.lastActivity = now
      transfer.place = running.count
      running.append(transfer)
      guard let handle = pool.take() ?? makeHandle() else {
        return end(transfer, .failure(Self.outOfRoom(transfer)), multi, handleIsClean: false)
      }
      transfer.handle = handle
      handle.prepare(transfer)
      expectWatch(of: transfer)
      add(transfer, handle, multi)
    }

    private func startAnew(_ transfer: CurlTransfer, _ used: CurlHandle, _ multi: UnsafeMutableRawPointer) {
      curl_multi_remove_handle(multi, used.easy)
      // libcurl 8.18.0 carries a pause over into the next exchange on the handle (curl issue 20641).
      let wasPaused = transfer.pause != 0
      used.reset()
      if !wasPaused { pool.give(used) }
      guard let handle = pool.take() ?? makeHandle() else {
        transfer.handle = nil
        return end(transfer, .failure(Self.outOfRoom(transfer)), multi, handleIsClean: false)
      }
      transfer.handle = handle
      handle.prepare(transfer)
      if transfer.needsFreshConnection { handle.demandFreshConnection() }
      add(transfer, handle, multi)
    }

    private func add(_ transfer: CurlTransfer, _ handle: CurlHandle, _ multi: UnsafeMutableRawPointer) {
      if curl_multi_add_handle(multi, handle.easy) != CURLM_OK {
        end(transfer, .failure(Self.outOfRoom(transfer)), multi, handleIsClean: false)
      }
    }

    private func makeHandle() -> CurlHandle? {
      CurlHandle(configuration: configuration, trust: trust, connections: connections)
    }

    /// A new number for a handshake.
    func nextHandshake() -> UInt {
      handshakes &+= 1
      return handshakes
    }

    private static func outOfRoom(_ transfer: CurlTransfer) -> TransportFailure {
      TransportFailure(.other, FailureText.outOfRoom, isCertainlyNotSent: !transfer.mayHaveBeenSent)
    }

    private func collect(_ multi: UnsafeMutableRawPointer) {
      var code = CURLE_OK
      while let easy = errand_multi_next_done(multi, &code) {
        guard let data = errand_easy_private(easy) else { continue }
        let handle = Unmanaged<CurlHandle>.fromOpaque(data).takeUnretainedValue()
        if let transfer = handle.transfer { done(transfer, handle, code, multi) }
      }
    }

    private func done(
      _ transfer: CurlTransfer, _ handle: CurlHandle, _ code: CURLcode, _ multi: UnsafeMutableRawPointer
    ) {
      if transfer.canStartAnew(after: code) {
        return startAnew(transfer, handle, multi)
      }
      let result = Result { try CurlFailure.outcome(of: transfer, handle: handle, code: code) }
      // After one rejected expectation libcurl no longer waits for 100 (Continue) on this handle, so the handle is not
      // reused.
      let hasAsked = transfer.exchange.request.body?.expectsContinue == true
      let isClean = code == CURLE_OK && transfer.failure == nil && !hasAsked && transfer.pause == 0
      end(transfer, result, multi, handleIsClean: isClean)
    }

    /// Removes the transfer from libcurl and resumes its caller. Has no effect if the transfer has ended.
    private func end(
      _ transfer: CurlTransfer, _ result: Result<HTTPResponse, any Error>, _ multi: UnsafeMutableRawPointer,
      handleIsClean: Bool
    ) {
      guard transfer.place >= 0 else { return }
      running.swapAt(transfer.place, running.count - 1)
      running[transfer.place].place = transfer.place
      running.removeLast()
      transfer.place = -1
      transfer.result = measured(result, transfer)
      if let handle = transfer.handle {
        if transfer.isPaused { handle.dropWhatIsHeld() }
        curl_multi_remove_handle(multi, handle.easy)
        handle.reset()
        if handleIsClean { pool.give(handle) }
      }
      transfer.handle = nil
      transfer.closeUpload()
      ended.append(transfer)
    }

    /// Adds libcurl's metrics to a failure; a response already has them. If the call was stopped, the metrics are only
    /// recorded.
    private func measured(
      _ result: Result<HTTPResponse, any Error>, _ transfer: CurlTransfer
    ) -> Result<HTTPResponse, any Error> {
      guard case .failure(let error) = result, let handle = transfer.handle else { return result }
      let metrics = CurlMetrics.read(handle.easy, of: transfer)
      guard var failure = error as? TransportFailure else {
        transfer.exchange.handling.note?.measured(metrics)
        return result
      }
      failure.metrics = metrics
      return .failure(failure)
    }

    /// Resumes the callers of all transfers that have ended.
    private func wakeCallers() {
      for transfer in ended { transfer.wakeup?.resume() }
      ended.removeAll(keepingCapacity: true)
    }

    // MARK: - Connect and idle time-outs

    /// Makes sure that the time-outs of the transfer are checked in time.
    func expectWatch(of transfer: CurlTransfer) {
      guard let end = transfer.watchEnd else { return }
      nextWatch = nextWatch.map { min($0, end) } ?? end
    }

    /// Checks the transfers whose time-out may have passed. Visits all transfers, but only if the earliest time-out has
    /// passed.
    private func watch(_ multi: UnsafeMutableRawPointer) {
      guard let due = nextWatch, due <= now else { return }
      nextWatch = nil
      for transfer in running {
        if let end = transfer.watchEnd, end <= now { check(transfer, multi) } else { expectWatch(of: transfer) }
      }
    }

    /// Ends a transfer whose time is over. If the transfer waits for the source of its body, checks instead whether the
    /// server has closed the connection.
    private func check(_ transfer: CurlTransfer, _ multi: UnsafeMutableRawPointer) {
      guard transfer.waitsForSource, let handle = transfer.handle else {
        let result = Result { try transfer.endOfPatience() }
        return end(transfer, result, multi, handleIsClean: false)
      }
      guard transfer.isLeft else { return transfer.lookLater() }
      done(transfer, handle, transfer.codeOfLeaving, multi)
    }
  }
#endif
