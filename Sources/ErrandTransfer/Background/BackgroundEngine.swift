import ErrandCore
import ErrandSupport
import Foundation

/// Keeps the records of background downloads in step with what the system tells. What is to be done is decided by
/// ``BackgroundDecision``; disk and records are used on one lane.
final class BackgroundEngine: Sendable {
  private struct State: Sendable {
    var hasBegun = false
    /// Those whose end was not told.
    var records: [String: BackgroundRecord] = [:]
    var handles: [String: BackgroundDownload] = [:]
    /// Whether everything was told at least once: what is missed then will not be told any more.
    var hasToldAll = false
    /// Whether everything was told, and nobody has waited for it.
    var isTold = false
    /// The ends that are being told.
    var telling = 0
    var lastWaiter = 0
    var waiting: [Int: AsyncStream<Never>.Continuation] = [:]
  }

  private let session: any BackgroundSession
  private let folder: BackgroundFolder
  private let algorithms: [DigestAlgorithm]
  private let home: String
  private let onEnd: @Sendable (BackgroundDownload.Ending) async -> Void
  private let lane = DiskLane()
  private let state = Locked(State())

  init(
    _ session: any BackgroundSession, _ folder: BackgroundFolder, _ algorithms: [DigestAlgorithm], home: String,
    _ onEnd: @escaping @Sendable (BackgroundDownload.Ending) async -> Void
  ) {
    self.session = session
    self.folder = folder
    self.algorithms = algorithms
    self.home = home
    self.onEnd = onEnd
  }

  // MARK: - The launch

  /// Reads the records, listens, and brings both together; once. Where the records cannot be read, such as before a
  /// device is first unlocked, nothing is listened to and nothing given up: the next call tries again.
  func begin() async throws(APIError) {
    let isFirst = state.withLock { state in
      defer { state.hasBegun = true }
      return !state.hasBegun
    }
    guard isFirst else { return }
    let found: [BackgroundRecord]
    do {
      found = try await lane.value { try self.folder.load() }
    } catch {
      state.withLock { $0.hasBegun = false }
      throw Self.error(error)
    }
    for record in found { keep(record) }
    session.begin { event in self.hear(event) }
    let names = await session.names()
    try? await lane.value {
      for record in found { self.takeUp(record.id, isListed: names.contains(record.id)) }
      // Nobody would take their files.
      for name in names where self.record(name) == nil { self.session.cancel(name) }
    }
  }

  /// What was told in the meantime counts.
  private func takeUp(_ id: String, isListed: Bool) {
    guard let record = record(id) else { return }
    switch BackgroundDecision.atLaunch(record.phase, isListed: isListed, hasFile: folder.hasFile(id)) {
    case .wait: set(.running, of: id)
    case .miss: if hasToldAll { lose(id) } else { set(.missed, of: id) }
    case .cancel: session.cancel(id)
    case .check: check(id)
    case .place: place(id)
    case .tellFile: tellFile(id)
    case .tell(let fault): tell(id, .failure(fault.error))
    case .tellCancel: fail(id, .backgroundCancelled)
    case .tellLoss: lose(id)
    }
  }

  // MARK: - What the session tells

  private func hear(_ event: BackgroundEvent) {
    switch event {
    case .progress(let name, let bytes, let total):
      state.withLock { $0.handles[name] }?.tell(TransferProgress(.download, bytes: bytes, total: total))
    case .came(let name, let file, let head, let url):
      // Before this returns: the file is the system's.
      lane.now { self.take(file, for: name, BackgroundAnswer(head, url)) }
      lane.run { self.check(name) }
    case .ended(let name, let end):
      lane.run {
        if let error = BackgroundDecision.failure(self.record(name)?.phase, end) { self.fail(name, error) }
      }
    case .allTold: lane.run { self.noteAllTold() }
    }
  }

  private func take(_ file: URL, for id: String, _ answer: BackgroundAnswer) {
    guard BackgroundDecision.takesFile(record(id)?.phase) else { return }
    do {
      // First, so that a file never lies there without its answer.
      try save(.came(answer), of: id)
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

  // MARK: - The way to the file

  private func check(_ id: String) {
    guard let record = record(id), case .came(let answer) = record.phase else { return }
    let check = BackgroundCheck(record: record, answer: answer, algorithms: algorithms)
    do {
      let (bytes, checkedBy) = try folder.check(id, check)
      let named = record.download(home: home).target(saidBy: answer.head.fields)
      let target = named.map { RecordedPlace($0, home: home) } ?? record.target
      try save(.placing(.init(target: target, bytes: bytes, checkedBy: checkedBy)), of: id)
      place(id)
    } catch {
      fail(id, Self.error(error))
    }
  }

  private func place(_ id: String) {
    guard let record = record(id), case .placing(let placed) = record.phase else { return }
    do {
      try folder.placeFile(
        of: id, at: placed.target.path(home: home), replacing: record.replaces, permissions: record.permissions)
      tellFile(id)
    } catch {
      fail(id, Self.error(error))
    }
  }

  // MARK: - The end

  private func tellFile(_ id: String) {
    guard case .placing(let placed) = record(id)?.phase else { return }
    let url = URL(filePath: placed.target.path(home: home), directoryHint: .notDirectory)
    tell(
      id,
      .success(DownloadedFile(url: url, bytes: placed.bytes, fetchedBytes: placed.bytes, checkedBy: placed.checkedBy)))
  }

  private func lose(_ id: String) { fail(id, .backgroundLost("the system does not have it any more")) }

  private func fail(_ id: String, _ error: APIError) {
    try? save(.failed(BackgroundFault(error)), of: id)
    folder.removeFile(of: id)
    tell(id, .failure(error))
  }

  /// Once for each download. The record goes when everybody has heard of it.
  private func tell(_ id: String, _ result: Result<DownloadedFile, APIError>) {
    let (record, handle) = state.withLock { state in
      state.telling += 1
      return (state.records.removeValue(forKey: id), state.handles.removeValue(forKey: id))
    }
    handle?.finish(result)
    let ending = BackgroundDownload.Ending(id: id, tag: record?.tag, result: result)
    Task {
      await onEnd(ending)
      lane.run {
        self.folder.remove(id)
        self.state.withLock { $0.telling -= 1 }
        self.wakeSettled()
      }
    }
  }

  // MARK: - What is asked for

  var running: [BackgroundDownload] { state.withLock { $0.handles.values.sorted { $0.id < $1.id } } }

  func start(_ order: BackgroundHandOver, tag: String?) async throws(APIError) -> BackgroundDownload {
    let wanted = try order.record(id: UUID().uuidString.lowercased(), tag: tag, home: home)
    do {
      return try await lane.value { try self.handOver(order, wanted) }
    } catch {
      throw Self.error(error)
    }
  }

  private func handOver(_ order: BackgroundHandOver, _ wanted: BackgroundRecord) throws -> BackgroundDownload {
    let target = wanted.target.path(home: home)
    switch BackgroundDecision.handOver(wanted, among: state.withLock { $0.records }.values) {
    case .join(let id): if let handle = state.withLock({ $0.handles[id] }) { return handle }
    case .replace(let id): lose(id)
    case .busy:
      throw FileFailure(.open, target, .busy, detail: "another background download has it; wait for its end")
    case .start: break
    }
    if !order.download.replaces, !order.download.isNamedByServer, try folder.files.status(at: target) != nil {
      throw FileFailure(.open, target, .exists, detail: "it is there already, and the download does not replace it")
    }
    guard try folder.canPlace(at: target) else {
      throw FileFailure(
        .rename, target, .other, detail: "it is not in the file system of the folder for background downloads")
    }
    for name in wanted.digests + [wanted.checksum?.algorithm].compactMap({ $0 }) {
      _ = try BackgroundCheck.algorithm(name, in: algorithms)
    }
    try folder.save(wanted)
    do {
      try session.start(BackgroundOrder(name: wanted.id, request: order.request, network: order.network))
    } catch {
      folder.remove(wanted.id)
      throw error
    }
    return keep(wanted)
  }

  private func cancel(_ id: String) {
    switch record(id)?.phase {
    case .running:
      set(.cancelling, of: id)
      session.cancel(id)
    case .missed: fail(id, .backgroundCancelled)
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

  private func record(_ id: String) -> BackgroundRecord? { state.withLock { $0.records[id] } }

  @discardableResult
  private func keep(_ record: BackgroundRecord) -> BackgroundDownload {
    let id = record.id
    let handle = BackgroundDownload(record) { [weak self] in
      guard let self else { return }
      lane.run { self.cancel(id) }
    }
    state.withLock {
      $0.records[id] = record
      $0.handles[id] = handle
    }
    return handle
  }

  /// On the disk first.
  private func save(_ phase: BackgroundRecord.Phase, of id: String) throws {
    guard var record = record(id) else { return }
    record.phase = phase
    try folder.save(record)
    let saved = record
    state.withLock { $0.records[id] = saved }
  }

  /// In memory first: where the disk is full, the next launch learns it from the system.
  private func set(_ phase: BackgroundRecord.Phase, of id: String) {
    guard var record = record(id), record.phase != phase else { return }
    record.phase = phase
    let changed = record
    state.withLock { $0.records[id] = changed }
    try? folder.save(changed)
  }

  private static func error(_ error: any Error) -> APIError {
    .mapping(APIError.transfer(error), as: .transfer)
  }
}
