import ErrandCore
import ErrandSupport
import ErrandTransfer
import Foundation

/// Keeps the saved records of background transfers consistent with the events of the system. ``BackgroundDecision``
/// decides what to do. The engine accesses the files of transfers only on one serial queue.
final class BackgroundEngine<Work: BackgroundWork>: Sendable {
  typealias Record = Work.Record
  typealias Value = Work.Handle.Value
  /// Called with the ID, the tag and the result of a transfer that ended.
  typealias OnEnd = @Sendable (String, String?, Result<Value, APIError>) async -> Void

  private struct State: Sendable {
    /// The task that continues the transfers of earlier runs of the app. Nil before the task is started, and again
    /// after the task has failed.
    var beginning: Task<Result<Void, APIError>, Never>?
    /// The records of the transfers whose end has not been reported yet, by their IDs.
    var records: [String: Record] = [:]
    var handles: [String: Work.Handle] = [:]
    /// Whether the system has reported all pending events at least once. From then on, an event that is still missing
    /// never arrives.
    var hasReportedAll = false
    /// Whether the system has reported all pending events since the last time that a call of `eventsHandled()` returned.
    var hasReportedAllSinceSettled = false
    /// Whether a call of `eventsHandled()` was cancelled since then. The next report of the system then belongs to this
    /// call, and does not end a call that begins after the report.
    var hasCancelledWaiter = false
    /// The number of calls of the `onEnd` closure that have not returned yet.
    var reporting = 0
    var lastWaiter = 0
    var waiting: [Int: AsyncStream<Never>.Continuation] = [:]
  }

  let session: any BackgroundSession
  let folder: BackgroundFolder<Record>
  let work: Work
  let queue = DiskQueue()
  private let onEnd: OnEnd
  private let state = Locked(State())
  private var kind: BackgroundKind { Record.kind }

  init(_ work: Work, _ session: any BackgroundSession, _ folder: BackgroundFolder<Record>, _ onEnd: @escaping OnEnd) {
    self.work = work
    self.session = session
    self.folder = folder
    self.onEnd = onEnd
  }

  // MARK: - The launch

  /// Waits for the task that continues the transfers of earlier runs of the app, and starts the task if there is none.
  /// Concurrent callers wait for the same task. Cancelling a caller ends only the wait of that caller.
  func begin() async throws(APIError) {
    let beginning = beginning()
    let (ends, end) = AsyncStream.makeStream(of: Result<Void, APIError>.self)
    Task {
      end.yield(await beginning.value)
      end.finish()
    }
    for await result in ends { return try result.get() }
    throw APIError(.cancelled, .cancelled, "The \(kind) was cancelled before it was handed over.")
  }

  /// The task that continues the transfers of earlier runs of the app. Starts the task if there is none.
  @discardableResult
  func beginning() -> Task<Result<Void, APIError>, Never> {
    state.withLock { state in
      if let beginning = state.beginning { return beginning }
      let beginning = Task { await self.resumeTransfers() }
      state.beginning = beginning
      return beginning
    }
  }

  /// Continues the transfers of earlier runs of the app: reads the saved records, starts to receive events of the
  /// session, and compares the records with the transfers that the system lists. If the records cannot be read, for
  /// example before the device is first unlocked, no events are received, and the next call of ``beginning()`` tries
  /// again.
  private func resumeTransfers() async -> Result<Void, APIError> {
    let found: [Record]
    do {
      found = try await queue.value { try self.folder.load() }
    } catch {
      state.withLock { $0.beginning = nil }
      return .failure(Self.error(error))
    }
    for record in found { keep(record) }
    session.begin { event in self.receive(event) }
    let names = await session.names()
    try? await queue.value {
      for record in found { self.resumeTransfer(record.id, isListed: names.contains(record.id)) }
      // Cancel each transfer that has no saved record. Without a record, the library cannot use the result of the
      // transfer.
      for name in names where self.record(name) == nil { self.session.cancel(name) }
    }
    return .success(())
  }

  /// Decides what to do with one transfer at launch, and starts to do it. Uses the current phase of the record, because
  /// events may have changed the phase since the record was read.
  private func resumeTransfer(_ id: String, isListed: Bool) {
    guard let record = record(id) else { return }
    switch BackgroundDecision.atLaunch(record.phase, isListed: isListed, hasFile: folder.hasFile(id)) {
    case .wait: set(.running, of: id)
    case .miss: if hasReportedAll { lose(id) } else { set(.missed, of: id) }
    case .cancel: session.cancel(id)
    case .check, .place: conclude(id, hasFile: true)
    case .reportFile: conclude(id, hasFile: false)
    case .reportFailure(let fault): report(id, .failure(fault.error))
    case .reportCancellation: fail(id, .backgroundCancelled(kind))
    case .reportLoss: lose(id)
    }
  }

  // MARK: - Events of the session

  private func receive(_ event: BackgroundEvent) {
    switch event {
    case .progress(let name, let bytes, let total):
      state.withLock { $0.handles[name] }?.wait.report(bytes: bytes, total: total)
    case .arrived(let name, let file, let head, let url):
      // Move the file before this callback returns, because the system deletes the file afterwards.
      queue.now { self.take(file, for: name, head, url) }
      queue.run { self.check(name) }
    case .ended(let name, let end):
      queue.run { self.receive(end, of: name) }
    case .allReported: queue.run { self.noteAllReported() }
    }
  }

  private func take(_ file: URL, for id: String, _ head: ResponseHead, _ url: HTTPURL) {
    guard BackgroundDecision.takesFile(record(id)?.phase) else { return }
    do {
      let bytes = try folder.length(of: file)
      // Save the response headers in the record first, so that the folder never contains a response file without its
      // headers.
      try save(.arrived(StoredResponse(head, url, to: kind, bytes: bytes)), of: id)
      try folder.takeFile(file, for: id)
    } catch {
      fail(id, Self.error(error))
    }
  }

  private func noteAllReported() {
    let missed = state.withLock { state in
      state.hasReportedAll = true
      return state.records.values.filter { $0.phase == .missed }.map(\.id)
    }
    for id in missed { lose(id) }
    state.withLock { $0.hasReportedAllSinceSettled = true }
    wakeSettled()
  }

  // MARK: - The end

  private func receive(_ end: BackgroundEnd, of id: String) {
    guard let record = record(id), let error = BackgroundDecision.failure(record.phase, end, of: kind) else { return }
    if case .failed = end { fail(id, work.failure(error, of: record, in: folder)) } else { fail(id, error) }
  }

  private func check(_ id: String) { if case .arrived = record(id)?.phase { conclude(id, hasFile: true) } }

  /// Validates the response of a transfer, and reports the result to the app.
  private func conclude(_ id: String, hasFile: Bool) {
    guard let record = record(id) else { return }
    do {
      let value = try work.value(of: record, hasFile: hasFile, in: folder) { try save($0, of: id) }
      report(id, .success(value))
    } catch {
      let error = Self.error(error)
      if work.isFoundAgain(error) { report(id, .failure(error)) } else { fail(id, error) }
    }
  }

  func lose(_ id: String) { fail(id, .backgroundLost("the operating system no longer lists the \(kind)", kind)) }

  /// Saves the failure of a transfer, and reports it to the app. If the failure cannot be saved, the response file is
  /// kept until the record is removed: with the phase ``BackgroundPhase/placing(_:)`` in the record and without the
  /// file, the next launch of the app would report a success.
  private func fail(_ id: String, _ error: APIError) {
    if (try? save(.failed(BackgroundFault(error)), of: id)) != nil { folder.removeFile(of: id) }
    report(id, .failure(error))
  }

  /// Reports the end of a transfer to the app, once for each transfer. The saved record is removed after `onEnd` has
  /// returned. If this process ends earlier, the next run of the app reports the end again.
  private func report(_ id: String, _ result: Result<Value, APIError>) {
    let (record, handle) = state.withLock { state in
      state.reporting += 1
      return (state.records.removeValue(forKey: id), state.handles.removeValue(forKey: id))
    }
    handle?.wait.finish(result)
    Task {
      await onEnd(id, record?.tag, result)
      queue.run {
        self.folder.remove(id)
        self.state.withLock { $0.reporting -= 1 }
        self.wakeSettled()
      }
    }
  }

  // MARK: - Requests of the app

  var running: [Work.Handle] { state.withLock { $0.handles.values.sorted { $0.wait.id < $1.wait.id } } }

  /// Saves the record of a transfer, and hands the transfer to the session. Call this method on the serial queue.
  func launch(_ record: Record, _ order: BackgroundOrder) throws -> Work.Handle {
    do {
      try folder.save(record)
      try session.start(order)
    } catch {
      folder.remove(record.id)
      throw error
    }
    return keep(record)
  }

  private func cancel(_ id: String) {
    switch record(id)?.phase {
    case .running:
      set(.cancelling, of: id)
      session.cancel(id)
    case .missed: fail(id, .backgroundCancelled(kind))
    case nil, .cancelling, .arrived, .placing, .failed: break
    }
  }

  func eventsHandled() async {
    let (stream, continuation) = AsyncStream.makeStream(of: Never.self)
    let waiter = state.withLock { state in
      state.lastWaiter += 1
      state.waiting[state.lastWaiter] = continuation
      return state.lastWaiter
    }
    wakeSettled()
    // If the records could not be read before, the engine receives no events of the session yet. So try again to read
    // the records.
    beginning()
    for await _ in stream {}
    state.withLock { state in
      let isCancelled = state.waiting.removeValue(forKey: waiter) != nil
      // Without the saved records there is no session yet, so no report of the system can belong to this call.
      if isCancelled, state.beginning != nil { state.hasCancelledWaiter = true }
    }
    // If the cancelled call was the only one, its report may have arrived while `onEnd` was still running.
    wakeSettled()
  }

  private func wakeSettled() {
    let waiting = state.withLock { state -> [Int: AsyncStream<Never>.Continuation] in
      guard state.hasReportedAllSinceSettled, state.reporting == 0, !state.waiting.isEmpty || state.hasCancelledWaiter
      else { return [:] }
      state.hasReportedAllSinceSettled = false
      state.hasCancelledWaiter = false
      defer { state.waiting = [:] }
      return state.waiting
    }
    for continuation in waiting.values { continuation.finish() }
  }

  // MARK: - Records

  private var hasReportedAll: Bool { state.withLock { $0.hasReportedAll } }

  /// The records of the transfers whose end has not been reported to the app.
  var records: [Record] { state.withLock { Array($0.records.values) } }

  /// The handle of a transfer; nil if the end of the transfer has already been reported.
  func handle(_ id: String) -> Work.Handle? { state.withLock { $0.handles[id] } }

  private func record(_ id: String) -> Record? { state.withLock { $0.records[id] } }

  @discardableResult
  private func keep(_ record: Record) -> Work.Handle {
    let id = record.id
    let wait = BackgroundWait<Value>(record) { [weak self] in
      guard let self else { return }
      queue.run { self.cancel(id) }
    }
    let handle = work.handle(wait)
    state.withLock {
      $0.records[id] = record
      $0.handles[id] = handle
    }
    return handle
  }

  /// Saves the phase of a transfer on disk first, and then in memory.
  private func save(_ phase: BackgroundPhase, of id: String) throws {
    guard var record = record(id) else { return }
    record.phase = phase
    try folder.save(record)
    let saved = record
    state.withLock { $0.records[id] = saved }
  }

  /// Saves the phase of a transfer in memory first, and then on disk. A failure to save the phase on disk is ignored,
  /// because the next launch of the app gets the state of the transfer from the system.
  private func set(_ phase: BackgroundPhase, of id: String) {
    guard var record = record(id), record.phase != phase else { return }
    record.phase = phase
    let changed = record
    state.withLock { $0.records[id] = changed }
    try? folder.save(changed)
  }

  static func error(_ error: any Error) -> APIError {
    .mapping(APIError.transfer(error), as: .transfer)
  }
}
