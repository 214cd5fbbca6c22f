import ErrandCore
import ErrandSupport
import Foundation

/// Keeps the records of background transfers consistent with the events of the system. ``BackgroundDecision`` decides
/// what to do. Files and records are used only on one serial queue.
final class BackgroundEngine<Work: BackgroundWork>: Sendable {
  typealias Record = Work.Record
  typealias Value = Work.Handle.Value
  /// Called with the ID, the tag and the result of a transfer that ended.
  typealias OnEnd = @Sendable (String, String?, Result<Value, APIError>) async -> Void

  private struct State: Sendable {
    /// The launch that is in progress or done; nil before the launch, and again after it has failed.
    var beginning: Task<Result<Void, APIError>, Never>?
    /// The transfers whose end has not been reported yet.
    var records: [String: Record] = [:]
    var handles: [String: Work.Handle] = [:]
    /// Whether the system has reported all pending events at least once. If an event is still missing then, it will
    /// never arrive.
    var hasToldAll = false
    /// Whether the system has reported all pending events and no call of `settled()` has returned since.
    var isTold = false
    /// How many calls of `onEnd` are running.
    var telling = 0
    var lastWaiter = 0
    var waiting: [Int: AsyncStream<Never>.Continuation] = [:]
  }

  let session: any BackgroundSession
  let folder: BackgroundFolder<Record>
  let work: Work
  let lane = DiskQueue()
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

  /// Performs the launch if necessary and waits for it. Concurrent callers share one launch; cancelling a caller ends
  /// only its wait.
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

  /// The launch that is in progress or done, otherwise a new one.
  @discardableResult
  func beginning() -> Task<Result<Void, APIError>, Never> {
    state.withLock { state in
      if let beginning = state.beginning { return beginning }
      let beginning = Task { await self.takeUp() }
      state.beginning = beginning
      return beginning
    }
  }

  /// Performs the launch once: reads the records, starts to listen to the session, and compares the records with the
  /// transfers that the system lists. If the records cannot be read, for example before the device is first unlocked,
  /// it does not listen to the session, and the next call tries again.
  private func takeUp() async -> Result<Void, APIError> {
    let found: [Record]
    do {
      found = try await lane.value { try self.folder.load() }
    } catch {
      state.withLock { $0.beginning = nil }
      return .failure(Self.error(error))
    }
    for record in found { keep(record) }
    session.begin { event in self.hear(event) }
    let names = await session.names()
    try? await lane.value {
      for record in found { self.takeUp(record.id, isListed: names.contains(record.id)) }
      // These transfers have no record, so their files could not be placed.
      for name in names where self.record(name) == nil { self.session.cancel(name) }
    }
    return .success(())
  }

  /// Decides what to do with one transfer at launch. Uses the current phase of the record, because events may have
  /// changed it since the launch began.
  private func takeUp(_ id: String, isListed: Bool) {
    guard let record = record(id) else { return }
    switch BackgroundDecision.atLaunch(record.phase, isListed: isListed, hasFile: folder.hasFile(id)) {
    case .wait: set(.running, of: id)
    case .miss: if hasToldAll { lose(id) } else { set(.missed, of: id) }
    case .cancel: session.cancel(id)
    case .check, .place: conclude(id, hasFile: true)
    case .tellFile: conclude(id, hasFile: false)
    case .tell(let fault): tell(id, .failure(fault.error))
    case .tellCancel: fail(id, .backgroundCancelled(kind))
    case .tellLoss: lose(id)
    }
  }

  // MARK: - Events of the session

  private func hear(_ event: BackgroundEvent) {
    switch event {
    case .progress(let name, let bytes, let total):
      state.withLock { $0.handles[name] }?.wait.tell(bytes: bytes, total: total)
    case .came(let name, let file, let head, let url):
      // Must finish before this returns, because the system deletes the file afterwards.
      lane.now { self.take(file, for: name, head, url) }
      lane.run { self.check(name) }
    case .ended(let name, let end):
      lane.run { self.hear(end, of: name) }
    case .allTold: lane.run { self.noteAllTold() }
    }
  }

  private func take(_ file: URL, for id: String, _ head: ResponseHead, _ url: HTTPURL) {
    guard BackgroundDecision.takesFile(record(id)?.phase) else { return }
    do {
      let bytes = try folder.length(of: file)
      // Save the record first, so that the folder never holds a file without its response.
      try save(.came(BackgroundAnswer(head, url, to: kind, bytes: bytes)), of: id)
      try folder.takeFile(file, for: id)
    } catch {
      fail(id, Self.error(error))
    }
  }

  private func noteAllTold() {
    let missed = state.withLock { state in
      state.hasToldAll = true
      return state.records.values.filter { $0.phase == .missed }.map(\.id)
    }
    for id in missed { lose(id) }
    state.withLock { $0.isTold = true }
    wakeSettled()
  }

  // MARK: - The end

  private func hear(_ end: BackgroundEnd, of id: String) {
    guard let record = record(id), let error = BackgroundDecision.failure(record.phase, end, of: kind) else { return }
    if case .failed = end { fail(id, work.failure(error, of: record, in: folder)) } else { fail(id, error) }
  }

  private func check(_ id: String) { if case .came = record(id)?.phase { conclude(id, hasFile: true) } }

  /// Turns a response into the result to report.
  private func conclude(_ id: String, hasFile: Bool) {
    guard let record = record(id) else { return }
    do {
      let value = try work.value(of: record, hasFile: hasFile, in: folder) { try save($0, of: id) }
      tell(id, .success(value))
    } catch {
      let error = Self.error(error)
      if work.isFoundAgain(error) { tell(id, .failure(error)) } else { fail(id, error) }
    }
  }

  func lose(_ id: String) { fail(id, .backgroundLost("the system does not have it any more", kind)) }

  private func fail(_ id: String, _ error: APIError) {
    try? save(.failed(BackgroundFault(error)), of: id)
    folder.removeFile(of: id)
    tell(id, .failure(error))
  }

  /// Reports the end, once for each transfer. The record is removed after `onEnd` has returned.
  private func tell(_ id: String, _ result: Result<Value, APIError>) {
    let (record, handle) = state.withLock { state in
      state.telling += 1
      return (state.records.removeValue(forKey: id), state.handles.removeValue(forKey: id))
    }
    handle?.wait.finish(result)
    Task {
      await onEnd(id, record?.tag, result)
      lane.run {
        self.folder.remove(id)
        self.state.withLock { $0.telling -= 1 }
        self.wakeSettled()
      }
    }
  }

  // MARK: - Requests of the app

  var running: [Work.Handle] { state.withLock { $0.handles.values.sorted { $0.wait.id < $1.wait.id } } }

  /// Saves a record and hands its order to the session. Runs on the serial queue.
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
    case nil, .cancelling, .came, .placing, .failed: break
    }
  }

  func settled() async {
    let (stream, continuation) = AsyncStream.makeStream(of: Never.self)
    let waiter = state.withLock { state in
      state.lastWaiter += 1
      state.waiting[state.lastWaiter] = continuation
      return state.lastWaiter
    }
    wakeSettled()
    // If the records could not be read before, the engine does not listen yet.
    beginning()
    for await _ in stream {}
    state.withLock { $0.waiting[waiter] = nil }
  }

  private func wakeSettled() {
    let waiting = state.withLock { state -> [Int: AsyncStream<Never>.Continuation] in
      guard state.isTold, state.telling == 0, !state.waiting.isEmpty else { return [:] }
      state.isTold = false
      defer { state.waiting = [:] }
      return state.waiting
    }
    for continuation in waiting.values { continuation.finish() }
  }

  // MARK: - Records

  private var hasToldAll: Bool { state.withLock { $0.hasToldAll } }

  /// The records whose end has not been reported.
  var records: [Record] { state.withLock { Array($0.records.values) } }

  /// The handle of a transfer whose end has not been reported.
  func handle(_ id: String) -> Work.Handle? { state.withLock { $0.handles[id] } }

  private func record(_ id: String) -> Record? { state.withLock { $0.records[id] } }

  @discardableResult
  private func keep(_ record: Record) -> Work.Handle {
    let id = record.id
    let wait = BackgroundWait<Value>(record) { [weak self] in
      guard let self else { return }
      lane.run { self.cancel(id) }
    }
    let handle = work.handle(wait)
    state.withLock {
      $0.records[id] = record
      $0.handles[id] = handle
    }
    return handle
  }

  /// Saves the phase on disk first, then in memory.
  private func save(_ phase: BackgroundPhase, of id: String) throws {
    guard var record = record(id) else { return }
    record.phase = phase
    try folder.save(record)
    let saved = record
    state.withLock { $0.records[id] = saved }
  }

  /// Saves the phase in memory first. A failure to save it on disk is ignored: the next launch learns the state from
  /// the system.
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
