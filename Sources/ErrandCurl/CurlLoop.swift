#if os(Linux)
  import CCurl
  import CErrandCurl
  import ErrandDecoding
  import ErrandHTTP
  import ErrandSupport
  import ErrandTLS
  import Foundation

  /// The event loop: the thread that uses libcurl. The thread takes commands, advances all transfers and runs timers.
  ///
  /// Other threads only add commands to the inbox and wake the loop's thread. Every handle, connection and callback
  /// belongs to the loop's thread.
  final class CurlLoop: TransportLoop, @unchecked Sendable {  // `inbox` has a lock; the rest belongs to the thread
    /// A command that another thread sends to the event loop.
    enum Command: Sendable {
      /// Start the transfer.
      case submit(CurlTransfer)
      /// End the transfer at once because its call was stopped.
      case abort(CurlTransfer)
      /// Continue the response body because its sink accepts bytes again.
      case resume(CurlTransfer)
      /// Continue the request body because its source may have bytes again.
      case resumeUpload(CurlTransfer)
      /// Run the job of a task that prefers the loop's thread.
      case run(UnownedJob, LoopThread<CurlLoop>)
    }

    static let threadName = "errand.curl"
    private static let scratchSize = 64 << 10
    private static let isLibraryReady = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

    let configuration: CurlConfiguration
    /// The identity of a transport with the configuration, which takes time to compute.
    let identity: String?
    let trust: CurlTrust
    /// The values of environment variables.
    let environment: @Sendable (String) -> String?
    /// libcurl's multi handle. Nil if the system had no memory or file descriptor for the handle.
    private let multi: UnsafeMutableRawPointer?
    private let inbox = Locked(LoopInbox<Command>())

    // MARK: Loop thread only

    let connections: CurlConnections
    /// The guard against servers that block the thread. Nil for HTTP/1.1: libcurl then returns after each piece that it
    /// reads, so a server cannot block the thread.
    let watchdog: CurlWatchdog?
    let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: scratchSize, alignment: 16)
    /// The time at which the loop's thread last woke up or began to execute commands.
    private(set) var now = MonotonicInstant.now
    /// The state of the authentication to each proxy that speaks HTTP and has credentials.
    var proxyAuthentications: [TransportProxy: ProxyAuthentication] = [:]
    private var taken: [Command] = []
    private var running: [CurlTransfer] = []
    private var ended: [CurlTransfer] = []
    private var nextWatch: MonotonicInstant?
    private var handshakes: UInt = 0
    private var pool = CurlHandlePool(allowsReuse: CurlVersion.running.allowsHandleReuse)
    /// The number of bytes that may still be decoded in this iteration of the loop in `run()`.
    var decoding = DecodingBudget()
    /// Transfers that the decoding budget has paused. They continue in this order in the next iteration of the loop.
    private var yielding: [CurlTransfer] = []
    private var resuming: [CurlTransfer] = []

    init(
      _ configuration: CurlConfiguration, _ trust: CurlTrust,
      multi makeMulti: (CurlConfiguration) -> UnsafeMutableRawPointer? = makeMulti,
      environment: @escaping @Sendable (String) -> String? = TransportProxy.variable
    ) {
      self.configuration = configuration
      identity = configuration.identity
      self.trust = trust
      self.environment = environment
      watchdog = configuration.effectiveVersion == .http1Only ? nil : CurlWatchdog()
      connections = CurlConnections(watchdog: watchdog)
      multi = Self.isLibraryReady ? makeMulti(configuration) : nil
    }

    static func makeLoop(_ configuration: CurlConfiguration) throws(CurlConfiguration.Invalid) -> CurlLoop {
      try configuration.validate()
      return CurlLoop(configuration, try CurlTrust(configuration))
    }

    func makeReplacement() -> CurlLoop { CurlLoop(configuration, trust) }

    deinit {
      pool.removeAll()
      if let multi { curl_multi_cleanup(multi) }
      scratch.deallocate()
    }

    /// Makes a multi handle that can be woken up. Nil if the system has no memory or file descriptor for the handle.
    static func makeMulti(_ configuration: CurlConfiguration) -> UnsafeMutableRawPointer? {
      guard let multi = curl_multi_init() else { return nil }
      guard curl_multi_wakeup(multi) == CURLM_OK else {
        curl_multi_cleanup(multi)
        return nil
      }
      errand_multi_set_long(multi, CURLMOPT_MAXCONNECTS, configuration.maximumIdleConnections)
      return multi
    }

    /// Whether the loop can run: libcurl and its multi handle were initialised.
    var isUsable: Bool { multi != nil }

    /// The HTTP versions that a response may have.
    func dialect(for scheme: HTTPURL.Scheme) -> HeadParser.Dialect {
      switch (configuration.effectiveVersion, scheme) {
      case (.http1Only, _), (.automatic, .http), (.http2, .http): .http1
      case (.http2PriorKnowledge, .http): .http2
      case (.automatic, .https), (.http2, .https), (.http2PriorKnowledge, .https): .either
      }
    }

    // MARK: - Any thread

    func withInbox<Result: Sendable>(_ body: (inout LoopInbox<Command>) -> Result) -> Result {
      inbox.withLock { body(&$0) }
    }

    func wake() {
      if let multi { curl_multi_wakeup(multi) }
    }

    func run(_ job: UnownedJob, on executor: LoopThread<CurlLoop>) { push(.run(job, executor)) }

    /// Rejects a command because the loop has no thread. A transfer fails. A job runs on a global queue.
    func refuse(_ command: Command) {
      switch command {
      case .submit(let transfer):
        transfer.result = .failure(Self.outOfResources(transfer))
        transfer.wakeup?.resume()
      case .run(let job, let executor):
        DispatchQueue.global().async { job.runSynchronously(on: executor.asUnownedTaskExecutor()) }
      case .abort, .resume, .resumeUpload: break
      }
    }

    // MARK: - The thread

    func run() {
      guard let multi else { return }
      repeat {
        now = .now
        fireTimers(now)
        executeCommands(multi)
        watch(multi)
        resumeYielding(multi)
        perform(multi)
        collect(multi)
        wakeCallers()
      } while waitForWork(multi)
      pool.removeAll()
    }

    private func perform(_ multi: UnsafeMutableRawPointer) {
      var count: Int32 = 0
      watchdog?.beginTurn()
      curl_multi_perform(multi, &count)
      watchdog?.endTurn()
    }

    /// Sleeps until there is work. Returns false if the thread must end.
    private func waitForWork(_ multi: UnsafeMutableRawPointer) -> Bool {
      guard yielding.isEmpty else { return true }
      let (now, latest, isBusy) = (MonotonicInstant.now, nextWatch, !running.isEmpty)
      switch inbox.withLock({ $0.decideSleep(now: now, latest: latest, isBusy: isBusy) }) {
      case .none: return true
      case .end: return false
      case .sleep(let milliseconds):
        curl_multi_poll(multi, nil, 0, milliseconds, nil)
        return true
      }
    }

    /// Executes the commands of the inbox. Jobs among the commands may add further commands, which are executed, too.
    /// So a request that a job adds is sent in the same iteration of the loop.
    private func executeCommands(_ multi: UnsafeMutableRawPointer) {
      for _ in 0..<4 {
        inbox.withLock { $0.take(&taken) }
        if taken.isEmpty { return }
        // The commands were submitted before this time. If `now` were older than a command, the time-outs of its
        // transfer would begin too early.
        now = .now
        for command in taken { execute(command, multi) }
        taken.removeAll(keepingCapacity: true)
      }
    }

    private func execute(_ command: Command, _ multi: UnsafeMutableRawPointer) {
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

    /// Resumes a paused body. During this call libcurl delivers the data that it kept during the pause. If a callback
    /// rejects the data, libcurl does not end the transfer, so this method ends the transfer.
    private func resume(_ transfer: CurlTransfer, _ multi: UnsafeMutableRawPointer) {
      guard transfer.isPaused, let handle = transfer.handle else { return }
      (transfer.isPaused, transfer.isYielding) = (false, false)
      unpause(transfer, handle, multi)
    }

    /// Schedules a paused transfer, which continues in the next iteration of the loop.
    func yield(_ transfer: CurlTransfer) { yielding.append(transfer) }

    /// Continues the transfers that are paused because the decoding budget of the last iteration of the loop was used
    /// up. Ends when the decoding budget of this iteration is used up.
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
      // In the next iteration, transfers that could not continue come before transfers that were paused again.
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
      (transfer.started, transfer.lastActivity) = (now, now)
      transfer.place = running.count
      running.append(transfer)
      guard let handle = preparedHandle(for: transfer, multi) else { return }
      expectWatch(of: transfer)
      add(transfer, handle, multi)
    }

    private func restart(_ transfer: CurlTransfer, _ used: CurlHandle, _ multi: UnsafeMutableRawPointer) {
      curl_multi_remove_handle(multi, used.easy)
      // libcurl 8.18.0 keeps a pause for the next exchange of a handle (curl issue 20641), so a paused handle is not
      // reused.
      let wasPaused = transfer.pause != 0
      used.reset()
      if !wasPaused { pool.give(used) }
      guard let handle = preparedHandle(for: transfer, multi) else { return }
      if transfer.needsFreshConnection { handle.demandFreshConnection() }
      add(transfer, handle, multi)
    }

    private func add(_ transfer: CurlTransfer, _ handle: CurlHandle, _ multi: UnsafeMutableRawPointer) {
      if curl_multi_add_handle(multi, handle.easy) != CURLM_OK {
        end(transfer, .failure(Self.outOfResources(transfer)), multi, handleIsClean: false)
      }
    }

    /// Prepares a handle for a transfer. If the system has no resources for a handle, ends the transfer and returns nil.
    private func preparedHandle(for transfer: CurlTransfer, _ multi: UnsafeMutableRawPointer) -> CurlHandle? {
      transfer.handle =
        pool.take() ?? CurlHandle(configuration: configuration, trust: trust, connections: connections)
      transfer.handle?.prepare(transfer)
      if transfer.handle == nil {
        end(transfer, .failure(Self.outOfResources(transfer)), multi, handleIsClean: false)
      }
      return transfer.handle
    }

    /// Returns a new number that identifies a TLS handshake.
    func nextHandshake() -> UInt {
      handshakes &+= 1
      return handshakes
    }

    private static func outOfResources(_ transfer: CurlTransfer) -> TransportFailure {
      TransportFailure(.other, FailureText.outOfResources, isCertainlyNotSent: !transfer.mayHaveBeenSent)
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
      if transfer.prepareRestart(after: code) { return restart(transfer, handle, multi) }
      let result = Result { try CurlFailure.outcome(of: transfer, handle: handle, code: code) }
      // After a rejected `Expect: 100-continue`, libcurl no longer waits for 100 (Continue) on this handle, so the
      // handle is not reused.
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
      transfer.use(nil)
      if let handle = transfer.handle {
        if transfer.isPaused { handle.dropPausedData() }
        curl_multi_remove_handle(multi, handle.easy)
        handle.reset()
        if handleIsClean { pool.give(handle) }
      }
      transfer.handle = nil
      transfer.closeUpload()
      ended.append(transfer)
    }

    /// Adds libcurl's metrics to a failure; a response already contains metrics. If the error cannot contain metrics,
    /// such as a cancellation, the metrics are only reported to the exchange's observer.
    private func measured(
      _ result: Result<HTTPResponse, any Error>, _ transfer: CurlTransfer
    ) -> Result<HTTPResponse, any Error> {
      guard case .failure(let error) = result, let handle = transfer.handle else { return result }
      let metrics = CurlMetrics.read(handle.easy, of: transfer)
      guard var failure = error as? TransportFailure else {
        transfer.exchange.handling.observer?.measured(metrics)
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

    /// Schedules the next check of the transfer's time-outs.
    func expectWatch(of transfer: CurlTransfer) {
      guard let end = transfer.watchEnd else { return }
      nextWatch = .earliest(nextWatch, end)
    }

    /// Checks the transfers whose time-out may have passed. Does nothing until the earliest time-out has passed.
    private func watch(_ multi: UnsafeMutableRawPointer) {
      guard let due = nextWatch, due <= now else { return }
      // While the thread was busy, bytes may have arrived for transfers whose idle time-out has passed.
      if running.contains(where: { $0.hasConnected && $0.isDue(now) }) {
        perform(multi)
        collect(multi)
      }
      nextWatch = nil
      for transfer in running {
        if transfer.isDue(now) { check(transfer, multi) } else { expectWatch(of: transfer) }
      }
    }

    /// Ends a transfer whose time-out has passed, with the response if that is complete. If it waits for the source of
    /// its body, first checks whether the server has closed the connection.
    private func check(_ transfer: CurlTransfer, _ multi: UnsafeMutableRawPointer) {
      if let handle = transfer.handle {
        if transfer.hasWholeResponse { return done(transfer, handle, CURLE_ABORTED_BY_CALLBACK, multi) }
        if transfer.waitsForSource {
          if transfer.isClosedByServer { return done(transfer, handle, transfer.codeAfterClose, multi) }
          guard transfer.idleEnd.map({ $0 <= now }) == true else { return transfer.scheduleCheck() }
        }
      }
      end(transfer, .failure(transfer.timeout), multi, handleIsClean: false)
    }
  }
#endif
