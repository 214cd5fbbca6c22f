import ErrandHTTP
import ErrandSupport
import Foundation

/// One exchange on its way: hands what URLSession tells to the machine, and does what that says.
///
/// URLSession's callbacks, stops, resumes and the watch all come on one serial queue, the lane. So the sink is never
/// called twice at once, and nothing that comes after the end has an effect. URLSession itself is called on another
/// queue, since its calls can block while it is busy: a stop does not wait for it.
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
    /// Whether anything came back or went out of the body.
    var hasMoved = false
    var sent: Int64 = 0
    var isCancelled = false
  }

  /// How long a cancelled task may take to say that it is over: less than a stop may be late.
  private static let patienceWithCancel = Duration.milliseconds(50)

  let exchange: Exchange
  private let bodyLength: Int64?
  private let lanes: SessionLanes
  private let timers: any Timers
  private let start: MonotonicInstant
  private let state: Locked<State>

  /// - Parameter length: The length of the body, where the request itself does not know it.
  init(
    _ exchange: Exchange, sending length: Int64? = nil, lanes: SessionLanes, timers: any Timers = SharedTimers.shared
  ) {
    self.exchange = exchange
    bodyLength = exchange.request.body?.length ?? length
    self.lanes = lanes
    self.timers = timers
    start = timers.now
    state = Locked(
      State(
        machine: SessionMachine(exchange), progress: exchange.onProgress.map { _ in SessionProgress() },
        lastSign: start))
  }

  // MARK: - From the caller

  /// Notes whom to wake, and begins. `make` gives the task, not yet started.
  func begin(_ wakeup: Wakeup, _ make: @escaping @Sendable () -> any SessionTask) {
    state.withLock { $0.wakeup = wakeup }
    watch()
    lanes.calling { [self] in
      guard !isOver else { return }
      let task = make()
      let isOver = state.withLock { state in
        state.task = task
        return state.machine.isOver
      }
      if isOver { task.cancel() } else { task.resume() }
    }
  }

  /// Ends it: its call was stopped.
  func stop(_ reason: CallState.StopReason) {
    lanes.telling { [self] in
      run { $0.fail(CallState.Stopped(reason: reason), cancels: true) }
    }
  }

  /// What came of it, once the caller has been woken.
  func outcome() throws -> HTTPResponse {
    guard let result = state.withLock({ $0.result.take() }) else {
      throw TransportFailure(.other, "The transport has ended.")
    }
    return try result.get()
  }

  // MARK: - From URLSession, on the lane

  /// Whether it was cancelled from here, so that URLSession must not be answered any more.
  var isCancelled: Bool { state.withLock { $0.isCancelled } }
  /// Whether it is over.
  var isOver: Bool { state.withLock { $0.machine.isOver } }

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
    report(.upload) { [bodyLength] in ($0.sent, bodyLength) }
  }

  /// Notes what URLSession measured; where it has no moment of the first byte, the one seen here stays.
  func measured(_ metrics: ExchangeMetrics) {
    noteWay { noted in
      let firstByte = noted.firstByte
      noted = metrics
      noted.firstByte = metrics.firstByte ?? firstByte
    }
  }

  /// Notes how far it has come, also for a call that does not wait for its end.
  private func noteWay(_ change: (inout ExchangeMetrics) -> Void) {
    let metrics = state.withLock { state in
      change(&state.metrics)
      return state.metrics
    }
    exchange.handling.note?.measured(metrics)
  }

  /// The server is not trusted; what the task says of its end is no news then.
  func refuse(_ failure: TransportFailure) { run { $0.fail(failure, cancels: true) } }

  /// The task is over. `head` is what URLSession has at last: on Linux a redirect to nowhere is told in no other way.
  func completed(_ error: (any Error)?, head: ResponseHead?) {
    if error == nil, let head, state.withLock({ $0.machine.head == nil }) { received(head) }
    if isOver { return wake() }
    guard let error else { return run { $0.finish() } }
    let origin = exchange.request.url.origin
    let failure = state.withLock { state in
      var failure = SessionFailure(error, origin)
      failure.hasMoved = state.hasMoved
      failure.hasHead = state.machine.head != nil
      return failure
    }
    run { $0.fail(failure.transportFailure, cancels: false) }
  }

  // MARK: - Doing what the machine says

  private func run(_ event: @Sendable (inout SessionMachine) -> SessionMachine.Step) {
    var step = state.withLock { event(&$0.machine) }
    while let next = perform(step) { step = next }
  }

  /// Does one step. Returns the one that follows; nil where something has to happen first.
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
    case .goOn:
      noteSign()
      call { $0.resume() }
      return nil
    case .succeed(let head, let body, let cancels):
      let result = Result { try answer(head, body) }
      state.withLock { $0.result = result }
      if cancels { cancel() } else { wake() }
      return nil
    case .fail(let error, let cancels):
      state.withLock { $0.result = .failure(measured(error, $0.metrics)) }
      if cancels { cancel() } else { wake() }
      return nil
    }
  }

  /// The caller goes on when URLSession has let go, or a little later all the same.
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
      lanes.telling { self.run { $0.resume() } }
    }
  }

  private func call(_ action: @escaping @Sendable (any SessionTask) -> Void) {
    guard let task = state.withLock({ $0.task }) else { return }
    lanes.calling { action(task) }
  }

  /// The answer, once it is sure that a file was sent as it was announced.
  private func answer(_ head: ResponseHead, _ body: Data) throws -> HTTPResponse {
    if let upload = exchange.request.body, upload.filePath != nil { _ = try upload.open(BodyFlow {}) }
    finishProgress()
    var head = head
    var (metrics, isCut) = state.withLock { ($0.metrics, $0.machine.isCut) }
    metrics.total = metrics.total ?? start.duration(to: timers.now)
    if let version = metrics.version { head.version = version }
    let response = HTTPResponse(head: head, body: body, url: exchange.request.url, metrics: metrics)
    return exchange.sink == nil && isCut ? response.cut() : response
  }

  /// An error, with what was measured until then where it can hold that.
  private func measured(_ error: any Error, _ metrics: ExchangeMetrics) -> any Error {
    guard var failure = error as? TransportFailure else { return error }
    var metrics = metrics
    metrics.total = metrics.total ?? start.duration(to: timers.now)
    failure.metrics = metrics
    return failure
  }

  /// Wakes the caller, once.
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
  // MARK: - Silence

  private func noteSign() {
    let now = timers.now
    state.withLock { state in
      state.lastSign = now
      state.hasMoved = true
    }
  }

  /// Looks after silence. One that waits for a network is not silent before anything has moved.
  private func watch() {
    guard let limit = exchange.idleTimeout else { return }
    let end = state.withLock { $0.lastSign }.advanced(by: limit)
    let token = timers.schedule(at: end) { [weak self] in
      guard let self else { return }
      lanes.telling { self.look(after: limit) }
    }
    state.withLock { $0.watch = token }
  }

  private func look(after limit: Duration) {
    let now = timers.now
    let isSilent = state.withLock { state in
      if state.machine.isPaused || exchange.network.waitsForConnectivity && !state.hasMoved { state.lastSign = now }
      return state.lastSign.advanced(by: limit) <= now
    }
    guard !isOver else { return }
    guard isSilent else { return watch() }
    let text = SessionFailureText.idleTimeout(exchange.request.url.origin, after: limit)
    run { $0.fail(TransportFailure(.idleTimeout, text), cancels: true) }
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

  /// The last words: that all was sent, and what came.
  private func finishProgress() {
    guard let action = exchange.onProgress else { return }
    let reports = state.withLock { state -> [TransferProgress?] in
      [
        bodyLength.flatMap { state.progress?.finish(.upload, $0) },
        state.progress?.finish(.download, state.machine.received),
      ]
    }
    for report in reports.compactMap(\.self) { action(report) }
  }
}
