#if os(Linux)
  import ErrandSupport
  import CCurl
  import CErrandCurl
  import ErrandHTTP
  import Foundation

  /// The one thread that talks to libcurl: takes commands, moves all transfers on, serves timers, and sleeps.
  ///
  /// Other threads only put something into the inbox and wake it. Every handle, connection and callback belongs to the
  /// thread.
  final class CurlLoop: @unchecked Sendable {  // shared state stands behind `inbox`; the rest is the thread's own
    private static let scratchSize = 64 << 10
    private static let isLibraryReady: Bool = {
      errand_tls_outlive_exit()
      return curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK
    }()

    let configuration: CurlConfiguration
    let trust: CurlTrust
    /// Nil where the system had no room for it.
    private let multi: UnsafeMutableRawPointer?
    private let inbox = Locked(CurlInbox())

    // MARK: The thread's own

    let connections: CurlConnections
    /// Nil if only HTTP/1.1 is spoken, of which libcurl reads one piece at a time.
    let watchdog: CurlWatchdog?
    let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: scratchSize, alignment: 16)
    /// The present, as of the last time the thread woke up.
    private(set) var now = MonotonicInstant.now
    private var taken: [CurlCommand] = []
    private var running: [CurlTransfer] = []
    private var ended: [CurlTransfer] = []
    private var nextWatch: MonotonicInstant?
    private var handshakes: UInt = 0
    private var pool = CurlHandlePool(allowsReuse: CurlVersion.running.allowsHandleReuse)
    /// What may still be decoded before the loop turns to other work.
    var decoding = CurlDecodingBudget()
    /// Transfers whose bodies continue in the next turn, the first to stop in front.
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

    /// A multi handle that can be woken up; nil where the system has no room for one.
    static func makeMulti(_ configuration: CurlConfiguration) -> UnsafeMutableRawPointer? {
      guard let multi = curl_multi_init() else { return nil }
      guard curl_multi_wakeup(multi) == CURLM_OK else {
        curl_multi_cleanup(multi)
        return nil
      }
      errand_multi_set_long(multi, CURLMOPT_MAXCONNECTS, configuration.maximumIdleConnections)
      return multi
    }

    /// Whether libcurl could be set up.
    var isUsable: Bool { multi != nil }

    /// Which versions an answer may name.
    func dialect(for scheme: HTTPURL.Scheme) -> CurlHeadParser.Dialect {
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

    /// Lets the thread end once no transfer is left.
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

    /// Serves the timers while there is no thread, and tries to start it.
    private func standIn() {
      while let action = inbox.withLock({ $0.popStranded(.now) }) { action() }
      perform(inbox.withLock { $0.endStandIn() })
    }

    /// Fails what comes to a loop that has no thread; jobs go on elsewhere.
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
        obeyAll(multi)
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

    /// Sleeps until there is something to do. False when the thread shall end.
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

    /// Does what it was told, and what the jobs among that say in turn, so that their requests go out at once.
    private func obeyAll(_ multi: UnsafeMutableRawPointer) {
      for _ in 0..<4 {
        inbox.withLock { $0.take(&taken) }
        if taken.isEmpty { return }
        // What begins here was submitted by now: no time-out counts from before that.
        now = .now
        for command in taken { obey(command, multi) }
        taken.removeAll(keepingCapacity: true)
      }
    }

    private func obey(_ command: CurlCommand, _ multi: UnsafeMutableRawPointer) {
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
      goOn(transfer, handle, multi)
    }

    /// libcurl hands over here what it held back. It would not end the transfer where that is refused.
    private func resume(_ transfer: CurlTransfer, _ multi: UnsafeMutableRawPointer) {
      guard transfer.isPaused, let handle = transfer.handle else { return }
      transfer.isPaused = false
      transfer.isYielding = false
      goOn(transfer, handle, multi)
    }

    /// Has a transfer continue in the next turn, after the other work.
    func yield(_ transfer: CurlTransfer) { yielding.append(transfer) }

    /// Continues with the bodies that stopped since their turn was used up, as far as this turn's budget lasts.
    private func resumeYielding(_ multi: UnsafeMutableRawPointer) {
      decoding = CurlDecodingBudget()
      guard !yielding.isEmpty else { return }
      swap(&yielding, &resuming)
      var count = 0
      while count < resuming.count, !decoding.isTurnOver {
        let transfer = resuming[count]
        count += 1
        if transfer.isYielding { resume(transfer, multi) }
      }
      // Those that found no time come before those that stopped again.
      resuming.removeFirst(count)
      yielding.insert(contentsOf: resuming, at: 0)
      resuming.removeAll(keepingCapacity: true)
    }

    private func goOn(_ transfer: CurlTransfer, _ handle: CurlHandle, _ multi: UnsafeMutableRawPointer) {
      transfer.lastActivity = now
      expectWatch(of: transfer)
      let code = curl_easy_pause(handle.easy, transfer.pause)
      if transfer.failure != nil || code != CURLE_OK { done(transfer, handle, code, multi) }
    }

    // MARK: - Beginning and end of a transfer

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
      // libcurl 8.18.0 takes a pause over into the next exchange on the handle (curl issue 20641).
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

    /// A number for a handshake that begins now.
    func nextHandshake() -> UInt {
      handshakes &+= 1
      return handshakes
    }

    private static func outOfRoom(_ transfer: CurlTransfer) -> TransportFailure {
      TransportFailure(.other, CurlFailureText.outOfRoom, isCertainlyNotSent: !transfer.mayHaveBeenSent)
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
      // A handle whose expectation was refused once does not wait for an answer to the next one.
      let hasAsked = transfer.exchange.request.body?.expectsContinue == true
      let isClean = code == CURLE_OK && transfer.failure == nil && !hasAsked && transfer.pause == 0
      end(transfer, result, multi, handleIsClean: isClean)
    }

    /// Takes the transfer out of libcurl and lets its caller go on. No effect on one that has ended.
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

    /// A failure, with what libcurl measured until then; an answer as it is. What a stop ended is noted.
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

    /// Lets the callers of all transfers that have ended go on, in one go.
    private func wakeCallers() {
      for transfer in ended { transfer.wakeup?.resume() }
      ended.removeAll(keepingCapacity: true)
    }

    // MARK: - Connect and idle time-outs

    /// Sees to it that the transfer is looked at in time.
    func expectWatch(of transfer: CurlTransfer) {
      guard let end = transfer.watchEnd else { return }
      nextWatch = nextWatch.map { min($0, end) } ?? end
    }

    /// Sees to the transfers that are due. Walks over all of them, but only when the first may be.
    private func watch(_ multi: UnsafeMutableRawPointer) {
      guard let due = nextWatch, due <= now else { return }
      nextWatch = nil
      for transfer in running {
        if let end = transfer.watchEnd, end <= now { see(to: transfer, multi) } else { expectWatch(of: transfer) }
      }
    }

    /// Looks whether the server has left one that waits for the source of its body; ends any other.
    private func see(to transfer: CurlTransfer, _ multi: UnsafeMutableRawPointer) {
      guard transfer.waitsForSource, let handle = transfer.handle else {
        let result = Result { try transfer.endOfPatience() }
        return end(transfer, result, multi, handleIsClean: false)
      }
      guard transfer.isLeft else { return transfer.lookLater() }
      done(transfer, handle, transfer.codeOfLeaving, multi)
    }
  }
#endif
