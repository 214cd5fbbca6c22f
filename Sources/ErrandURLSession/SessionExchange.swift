import ErrandHTTP
import ErrandSupport
import Foundation

/// One HTTP exchange in progress. It passes URLSession's callbacks to the state machine (``SessionMachine``), and
/// performs the steps that the state machine returns.
///
/// URLSession's callbacks, stops of the call, resumptions by the sink and the idle timer all run on one serial queue.
/// So the sink is never called concurrently, and events after the end of the exchange have no effect. Calls to
/// URLSession run on another queue: they can block while URLSession is busy, and a stop must not wait for them.
final class SessionExchange: Sendable {
  private struct State: Sendable {
    var machine: SessionMachine
    var task: (any SessionTask)?
    var wakeup: Wakeup?
    var result: Result<HTTPResponse, any Error>?
    var progress: SessionProgress?
    var metrics = ExchangeMetrics()
    var watch: TimerToken?
    var lastSign: MonotonicInstant
    /// Whether a byte of the request body was sent or a byte of the response was received.
    var hasMoved = false
    var sent: Int64 = 0
    /// Whether the file with the request body was unchanged when URLSession had sent all of it.
    var isFileSent = false
    /// Whether URLSession has reported that the task waits for a network connection.
    var isOffline = false
    var isCancelled = false
  }

  /// The maximum time to wait until URLSession has ended a cancelled task. It must be shorter than the time within
  /// which a stopped call must end.
  private static let patienceWithCancel = Duration.milliseconds(50)

  let exchange: Exchange
  private let bodyLength: Int64?
  private let queues: SessionQueues
  private let timers: any Timers
  private let start: MonotonicInstant
  private let state: Locked<State>

  /// - Parameter length: The length of the request body, used if the body does not know its length.
  init(
    _ exchange: Exchange, sending length: Int64? = nil, queues: SessionQueues, timers: any Timers = SharedTimers.shared
  ) {
    self.exchange = exchange
    bodyLength = exchange.request.body?.length ?? length
    self.queues = queues
    self.timers = timers
    start = timers.now
    state = Locked(
      State(
        machine: SessionMachine(exchange), progress: exchange.onProgress.map { _ in SessionProgress() },
        lastSign: start))
  }

  // MARK: - From the caller

  /// Stores the ``Wakeup`` of the caller, and starts the exchange. `make` creates the URLSession task without starting
  /// it. The ``Wakeup`` is resumed at the end of the exchange.
  func begin(_ wakeup: Wakeup, _ make: @escaping @Sendable () -> any SessionTask) {
    state.withLock { $0.wakeup = wakeup }
    watch()
    queues.runCall { [self] in
      guard !isOver else { return }
      let task = make()
      let isOver = state.withLock { state in
        state.task = task
        return state.machine.isOver
      }
      if isOver { task.cancel() } else { task.resume() }
    }
  }

  /// Stops the exchange, because its call is cancelled or has reached its deadline.
  func stop(_ reason: CallState.StopReason) {
    queues.runCallback { [self] in
      run { $0.fail(CallState.Stopped(reason: reason), cancels: true) }
    }
  }

  /// The response, or the error with which the exchange failed. Call this method only after the ``Wakeup`` was resumed.
  func outcome() throws -> HTTPResponse {
    guard let result = state.withLock({ $0.result.take() }) else {
      throw TransportFailure(.other, "The transport has ended.")
    }
    return try result.get()
  }

  // MARK: - From URLSession, on the serial queue

  /// Whether the library has cancelled the exchange. After the cancellation, URLSession's completion handlers must not
  /// be called.
  var isCancelled: Bool { state.withLock { $0.isCancelled } }
  var isOver: Bool { state.withLock { $0.machine.isOver } }

  /// Called when URLSession waits for a network connection, because there is none. URLSession does not report when it
  /// has found a connection.
  func waitsForNetwork() { state.withLock { $0.isOffline = true } }

  func received(_ head: ResponseHead) {
    noteWay { $0.firstByte = start.duration(to: timers.now) }
    noteSign()
    run { $0.take(head) }
  }

  func received(_ piece: Data) {
    noteSign()
    run { $0.take(piece) }
    report(.download) { ($0.machine.received, $0.machine.announced) }
  }

  func sent(_ bytes: Int64) {
    noteSign()
    state.withLock { $0.sent = max($0.sent, bytes) }
    if let bodyLength, bytes >= bodyLength { noteFileSent() }
    report(.upload) { [bodyLength] in ($0.sent, bodyLength) }
  }

  /// Records URLSession's metrics. If the metrics do not contain the time of the first byte, the time that this class
  /// measured is kept.
  func measured(_ metrics: ExchangeMetrics) {
    noteWay { noted in
      let firstByte = noted.firstByte
      noted = metrics
      noted.firstByte = metrics.firstByte ?? firstByte
    }
  }

  /// Changes the metrics and reports them to the call. A call that is stopped early gets the metrics up to that time.
  private func noteWay(_ change: (inout ExchangeMetrics) -> Void) {
    let metrics = state.withLock { state in
      change(&state.metrics)
      return state.metrics
    }
    exchange.handling.observer?.measured(metrics)
  }

  /// Ends the exchange because the server is not trusted. The error that URLSession reports afterwards is ignored.
  func refuse(_ failure: TransportFailure) { run { $0.fail(failure, cancels: true) } }

  /// Called when the URLSession task has ended. `head` contains the last response headers of the task. They are needed
  /// because URLSession on Linux reports a redirect without a usable `Location` only at the end of the task.
  func completed(_ error: (any Error)?, head: ResponseHead?) {
    if error == nil, let head, state.withLock({ $0.machine.head == nil }) { received(head) }
    if isOver {
      noteUnsent()
      return wake()
    }
    guard let error else { return run { $0.finish() } }
    let origin = exchange.request.url.origin
    let failure = state.withLock { state in
      var failure = SessionFailure(error, origin)
      failure.hasMoved = state.hasMoved
      failure.hasBody = reportsBody
      failure.hasHead = state.machine.head != nil
      return failure
    }
    run { $0.fail(failure.transportFailure, cancels: false) }
  }

  /// Whether URLSession reports bytes of the request body before the request is complete. It reports nothing for an
  /// empty body.
  private var reportsBody: Bool { exchange.request.body != nil && bodyLength != 0 }

  // MARK: - Performing the steps of the machine

  private func run(_ event: @Sendable (inout SessionMachine) -> SessionMachine.Step) {
    var step = state.withLock { event(&$0.machine) }
    while let next = perform(step) { step = next }
  }

  /// Performs one step of the state machine. Returns the next step; nil if the state machine waits for an event.
  private func perform(_ step: SessionMachine.Step) -> SessionMachine.Step? {
    switch step {
    case .rest: return nil
    case .ask(let head):
      return asking {
        try $0.begin(head, flow: flow)
      } then: {
        $0.open($1)
      }
    case .write(let piece):
      return asking {
        try Self.write(piece, into: $0)
      } then: {
        $0.wrote(goesOn: $1)
      }
    case .endSink:
      return asking {
        try $0.end()
      } then: { machine, _ in
        machine.sinkEnded()
      }
    case .pause:
      call { $0.suspend() }
      return nil
    case .resume:
      noteSign()
      call { $0.resume() }
      return nil
    case .succeed(let head, let body, let cancels):
      let result = Result { try answer(head, body) }
      state.withLock { $0.result = result }
      if cancels { cancel() } else { wake() }
      return nil
    case .fail(let error, let cancels):
      state.withLock { $0.result = .failure(measured(error, $0.metrics, $0.machine.head?.status)) }
      if cancels { cancel() } else { wake() }
      return nil
    }
  }

  /// Cancels the task. The caller is woken when URLSession has ended the task, or after 50 ms at the latest.
  private func cancel() {
    let hasBegun = state.withLock { state in
      state.isCancelled = true
      return state.task != nil
    }
    guard hasBegun else { return wake() }
    _ = timers.schedule(at: timers.now.advanced(by: Self.patienceWithCancel)) { [weak self] in self?.wake() }
    call { $0.cancel() }
  }

  private func asking<Value: Sendable>(
    _ question: (any BodySink) throws -> Value,
    then: @Sendable (inout SessionMachine, Value) -> SessionMachine.Step
  ) -> SessionMachine.Step {
    do {
      guard let sink = exchange.sink else { return .rest }
      let value = try question(sink)
      return state.withLock { then(&$0.machine, value) }
    } catch {
      return state.withLock { $0.machine.fail(error, cancels: true) }
    }
  }

  private static func write(_ piece: Data, into sink: any BodySink) throws -> Bool {
    try piece.withUnsafeBytes { try sink.write($0) }
  }

  private var flow: BodyFlow {
    BodyFlow { [weak self] in
      guard let self else { return }
      queues.runCallback { self.run { $0.resume() } }
    }
  }

  private func call(_ action: @escaping @Sendable (any SessionTask) -> Void) {
    guard let task = state.withLock({ $0.task }) else { return }
    queues.runCall { action(task) }
  }

  /// Creates the response. Throws if the file with the request body has changed before URLSession had sent all of it.
  private func answer(_ head: ResponseHead, _ body: Data) throws -> HTTPResponse {
    if !state.withLock({ $0.isFileSent }) { try checkFile() }
    finishProgress(head.status)
    var head = head
    var (metrics, isCut) = state.withLock { ($0.metrics, $0.machine.isCut) }
    metrics.total = metrics.total ?? start.duration(to: timers.now)
    if let version = metrics.version { head.version = version }
    let response = HTTPResponse(head: head, body: body, url: exchange.request.url, metrics: metrics)
    return exchange.sink == nil && isCut ? response.cut() : response
  }

  /// Adds the metrics to an error if the error is a `TransportFailure`.
  private func measured(_ error: any Error, _ metrics: ExchangeMetrics, _ status: Int?) -> any Error {
    guard var failure = error as? TransportFailure else { return error }
    var metrics = metrics
    metrics.total = metrics.total ?? start.duration(to: timers.now)
    metrics.status = status
    failure.metrics = metrics
    return failure
  }

  /// Resumes the caller that waits for the end of the exchange. Later calls of this method have no effect.
  private func wake() {
    let (wakeup, watch) = state.withLock { state in
      state.task = nil
      return (state.wakeup.take(), state.watch.take())
    }
    if let watch { timers.cancel(watch) }
    wakeup?.resume()
  }
}

extension SessionExchange {
  // MARK: - The file with the request body

  /// Called when URLSession has sent the whole request body. The app may change the file from now on. If it has changed
  /// the file before, the server may have received old and new bytes, so the exchange ends.
  private func noteFileSent() {
    guard !isOver else { return }
    do {
      try checkFile()
      state.withLock { $0.isFileSent = true }
    } catch {
      run { $0.fail(error, cancels: true) }
    }
  }

  /// Throws if the request body is a file that has changed since the request was built. A file that was removed is no
  /// error: a response shows that URLSession could read it.
  private func checkFile() throws {
    guard let body = exchange.request.body, let path = body.filePath, FileManager.default.fileExists(atPath: path)
    else { return }
    _ = try body.open(BodyFlow {})
  }

  // MARK: - Idle time-out

  private func noteSign() {
    let now = timers.now
    state.withLock { state in
      state.lastSign = now
      state.hasMoved = true
    }
  }

  /// Schedules the next check of the idle time-out. Time does not count as idle while the sink pauses, or after
  /// URLSession has reported that it waits for a network connection, until the first byte is transferred.
  private func watch() {
    guard let limit = exchange.idleTimeout else { return }
    let end = state.withLock { $0.lastSign }.advanced(by: limit)
    let token = timers.schedule(at: end) { [weak self] in
      guard let self else { return }
      queues.runCallback { self.look(after: limit) }
    }
    state.withLock { $0.watch = token }
  }

  private func look(after limit: Duration) {
    let now = timers.now
    let isSilent = state.withLock { state in
      if state.machine.isPaused || state.isOffline && !state.hasMoved { state.lastSign = now }
      return state.lastSign.advanced(by: limit) <= now
    }
    guard !isOver else { return }
    guard isSilent else { return watch() }
    let text = FailureText.idleTimeout(exchange.request.url.origin, after: limit)
    run { $0.fail(TransportFailure(.idleTimeout, text), cancels: true) }
  }

  /// Called when URLSession has ended a task that the library has cancelled. After an idle time-out, the server has
  /// certainly not received the request if URLSession has sent no byte of its body. This is known only now, because
  /// URLSession could still send the request until it ended the task.
  private func noteUnsent() {
    guard reportsBody else { return }
    state.withLock { state in
      guard !state.hasMoved, case .failure(let error) = state.result, let idle = error as? TransportFailure,
        idle.kind == .idleTimeout
      else { return }
      var unsent = TransportFailure(.idleTimeout, idle.description, isCertainlyNotSent: true)
      unsent.metrics = idle.metrics
      state.result = .failure(unsent)
    }
  }

  // MARK: - Progress

  private func report(
    _ direction: TransferProgress.Direction, _ count: @Sendable (State) -> (bytes: Int64, total: Int64?)
  ) {
    guard let action = exchange.onProgress else { return }
    let now = timers.now
    let report = state.withLock { state -> TransferProgress? in
      guard !state.machine.isOver else { return nil }
      let (bytes, total) = count(state)
      return state.progress?.report(direction, bytes, total: total, at: now)
    }
    if let report { action(report) }
  }

  /// Reports the final progress of the request body and the response body. A server may reject a request before it has
  /// received the whole body. The request body then has no final report.
  private func finishProgress(_ status: Int) {
    guard let action = exchange.onProgress else { return }
    let reports = state.withLock { state -> [TransferProgress?] in
      let sent = state.sent
      let length = bodyLength.flatMap { status >= 300 && sent < $0 ? nil : $0 }
      return [
        length.flatMap { state.progress?.finish(.upload, $0) },
        state.progress?.finish(.download, state.machine.received),
      ]
    }
    for report in reports.compactMap(\.self) { action(report) }
  }
}
