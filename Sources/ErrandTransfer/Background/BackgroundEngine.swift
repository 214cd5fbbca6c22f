import ErrandCore
import ErrandSupport
import Foundation

/// Keeps the records of transfers in the background in step with what the system tells. What is to be done is decided by
/// ``BackgroundDecision``; disk and records are used on one lane.
final class BackgroundEngine<Work: BackgroundWork>: Sendable {
  typealias Record = Work.Record
  typealias Value = Work.Handle.Value
  /// Told the end of a transfer, by its id and tag.
  typealias OnEnd = @Sendable (String, String?, Result<Value, APIError>) async -> Void

  private struct State: Sendable {
    /// Under way, or done; a failure clears it.
    var beginning: Task<Result<Void, APIError>, Never>?
    /// Those whose end was not told.
    var records: [String: Record] = [:]
    var handles: [String: Work.Handle] = [:]
    /// Whether everything was told at least once: what is missed then will not be told any more.
    var hasToldAll = false
    /// Whether everything was told, and nobody has waited for it.
    var isTold = false
    /// The ends that are being told.
    var telling = 0
    var lastWaiter = 0
    var waiting: [Int: AsyncStream<Never>.Continuation] = [:]
  }

  let session: any BackgroundSession
  let folder: BackgroundFolder<Record>
  let work: Work
  let lane = DiskLane()
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

  /// Begins, unless it is done, and waits for it. One beginning serves all who ask meanwhile; a cancel ends the wait
  /// alone.
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

  /// The beginning that is under way or done, else a new one.
  @discardableResult
  func beginning() -> Task<Result<Void, APIError>, Never> {
    state.withLock { state in
      if let beginning = state.beginning { return beginning }
      let beginning = Task { await self.takeUp() }
      state.beginning = beginning
      return beginning
    }
  }

  /// Reads the records, listens, and brings both together; once. Where the records cannot be read, such as before a
  /// device is first unlocked, nothing is listened to and nothing given up: the next call tries again.
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
      // Nobody would take their files.
      for name in names where self.record(name) == nil { self.session.cancel(name) }
    }
    return .success(())
  }

  /// What was told in the meantime counts.
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

  // MARK: - What the session tells

  private func hear(_ event: BackgroundEvent) {
    switch event {
    case .progress(let name, let bytes, let total):
      state.withLock { $0.handles[name] }?.wait.tell(bytes: bytes, total: total)
    case .came(let name, let file, let head, let url):
      // Before this returns: the file is the system's.
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
      // First, so that a file never lies there without its answer.
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

  /// Makes of an answer what is told.
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

  /// Once for each transfer. The record goes when everybody has heard of it.
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

  // MARK: - What is asked for

  var running: [Work.Handle] { state.withLock { $0.handles.values.sorted { $0.wait.id < $1.wait.id } } }

  /// On the lane: writes a record down and hands its order over.
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
    // Where the records could not be read before, nobody listens yet.
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

  /// Those whose end was not told.
  var records: [Record] { state.withLock { Array($0.records.values) } }

  /// What the app holds of one whose end was not told.
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

  /// On the disk first.
  private func save(_ phase: BackgroundPhase, of id: String) throws {
    guard var record = record(id) else { return }
    record.phase = phase
    try folder.save(record)
    let saved = record
    state.withLock { $0.records[id] = saved }
  }

  /// In memory first: where the disk is full, the next launch learns it from the system.
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
