import ErrandSupport

/// One run of a group: works once, finishes once.
final class GroupRun: Sendable {
  let info: GroupInfo
  let state: CallState
  let client: APIClient
  let options: GroupOptions

  private let parent: GroupRun?
  private let place: Int
  private let book = Locked(GroupBook())
  private let accessories: [any Accessory]
  private let timers: any Timers
  private let started: MonotonicInstant
  private let log: CallLog?
  private let delivery: Delivery
  /// Nil for a group that tells its end alone: its only job needs no order.
  private let lane: CallbackLane?

  /// Where the group is told of, and who wants to know how far it has come.
  struct Delivery: Sendable {
    var executor = CallbackExecutor.inPlace
    var onProgress: GroupProgressCallback?
  }

  /// Registers the group and tells the accessories that it starts.
  init<G: CallGroup>(
    _ group: G, _ options: GroupOptions, _ client: APIClient, parent: GroupRun? = nil,
    delivery: Delivery = Delivery()
  ) {
    let snapshot = client.snapshot
    let options = parent?.options.forGroup(options) ?? options
    self.client = client
    self.options = options
    self.parent = parent
    self.delivery = delivery
    timers = snapshot.timers
    started = timers.now
    let now = started
    state = CallState(deadline: options.deadline.duration.map { now.advanced(by: $0) }, timers: timers)
    info = GroupInfo(
      id: CallNumber.next(), name: group.name, kind: group.kind, tag: options.tag, indicator: options.indicator)
    log = snapshot.configuration.log.map { [id = info.id] in CallLog(id: id, write: $0) }
    accessories = snapshot.configuration.accessories + options.accessories
    place = client.registry.add(.init(state: state, owner: options.ownership?.number, tag: options.tag))
    if let ownership = options.ownership { CallRun.enlist(state, with: ownership, in: client.registry) }
    let tellsOnce = delivery.onProgress == nil && options.onProgress == nil && accessories.isEmpty
    lane = tellsOnce ? nil : CallbackLane(delivery.executor)
    for accessory in accessories { accessory.willStart(info) }
  }

  // MARK: - The work

  /// Runs the body where the caller is. A stop of the group stops its members; the cancellation of the task only stops
  /// the group.
  func live<Value, Failure>(
    isolation: isolated (any Actor)? = #isolation, _ body: (GroupScope) async throws(Failure) -> Value
  ) async -> Result<Value, Failure> {
    let scope = GroupScope(run: self)
    return await withTaskCancellationHandler(
      operation: {
        _ = isolation
        return await state.whileAsking({ self.stopMembers($0) }) {
          do throws(Failure) {
            return .success(try await body(scope))
          } catch {
            return .failure(error)
          }
        }
      },
      onCancel: { state.stop(.cancelled) }, isolation: isolation)
  }

  /// Ends the work: settles the group and runs the hook that is off the callback executor.
  func settle(_ error: APIError?) async -> APIError? {
    // User code that throws a cancellation of its own cancels the group: the handle and the error say the same.
    if error?.stage == .cancelled { state.stop(.cancelled) }
    state.settle()
    let error = turned(error, by: state.endsBy)
    if let hook = options.beforeCompletion {
      let ending = GroupEnding(error: error, report: report)
      _ = try? await state.running { await hook(ending) }
    }
    return error
  }

  // MARK: - The end

  /// Hands a job to the callback executor, behind what was told before.
  func hand(_ job: @escaping @Sendable () -> Void) {
    if let lane { lane.run(job) } else { delivery.executor.run(job) }
  }

  /// Claims the outcome and tells everybody, in one job on the executor it is called on.
  func finish<Told>(_ came: APIError?, _ tell: (GroupEnding) -> Told) -> Told {
    let ending = GroupEnding(error: turned(came, by: state.claim()), report: report)
    for accessory in accessories { accessory.willStop(info, ending) }
    options.afterCompletion?(ending)
    let told = tell(ending)
    for accessory in accessories { accessory.didStop(info, ending) }
    client.registry.remove(place)
    if let log {
      let name = info.description
      log.info(ending.error.map { "\(name) failed: \($0)" } ?? "\(name) done in \(ending.report.duration)")
    }
    return told
  }

  /// What came, or the reason for which the group was stopped, whatever came.
  private func turned(_ error: APIError?, by reason: CallState.StopReason?) -> APIError? {
    guard let reason else { return error }
    let stopped = APIError.stopped(reason, of: info, limit: options.deadline.duration)
    return error?.stage == stopped.stage ? error : stopped
  }

  /// The whole run of a group, where the caller is.
  func outcome<G: CallGroup>(of group: G) async -> GroupOutcome<G.Response> {
    let came = await work(group)
    return finish(came.error) { $0.outcome(came) }
  }

  /// Runs the group's body and the hook behind it.
  func work<G: CallGroup>(_ group: G) async -> Result<G.Response, APIError> {
    let came = await live { scope in try await group.body(in: scope) }.mapError { APIError.mapping($0, in: info) }
    let error = await settle(came.error)
    return error.map { .failure($0) } ?? came
  }

  /// The same in a task that a stop of the group cancels, so that it reaches whatever else the body waits for.
  func workInTask<G: CallGroup>(_ group: G) async -> Result<G.Response, APIError> {
    let task = Task { @concurrent in await self.work(group) }
    return await state.whileAsking({ _ in task.cancel() }) { await task.value }
  }

  // MARK: - Members

  /// A member begins: it ends with the group. Returns its place.
  func begin(_ name: MemberName, _ member: CallState) -> Int {
    let (place, reason) = book.withLock { $0.begin(name, at: elapsed, member) }
    if let reason { member.stop(reason) }
    return place
  }

  /// A member has ended.
  func end(_ place: Int, _ state: GroupReport.State, _ report: GroupReport? = nil) {
    let released = book.withLock { $0.end(place, at: elapsed, state, report) }
    _ = released
    tellProgress()
  }

  /// The error as one of a step; in a batch, which knows its members by their order, as it is.
  func placed(_ error: APIError, _ place: Int, _ name: MemberName) -> APIError {
    guard info.kind == .chain else { return error }
    return error.ofMember(GroupMember(kind: .chain, group: info.name, index: place, name: "\(name)"))
  }

  /// Says how many members there will be.
  func expect(_ count: Int) { book.withLock { $0.total = count } }

  /// What a member's progress adds to the group's; nil where nobody wants to know.
  func meter() -> ProgressCallback? {
    guard wantsBytes else { return nil }
    let last = Locked((up: Int64(0), down: Int64(0)))
    return { [self] _, progress in
      let gained = last.withLock { last in
        let before = progress.direction == .upload ? last.up : last.down
        if progress.direction == .upload { last.up = progress.bytes } else { last.down = progress.bytes }
        return max(0, progress.bytes.subtractingReportingOverflow(before).partialValue)
      }
      add(gained)
    }
  }

  /// What ran so far.
  var report: GroupReport {
    GroupReport(group: info, duration: elapsed, entries: book.withLock { $0.entries })
  }

  var progress: GroupProgress { book.withLock { $0.progress } }

  private var elapsed: Duration { started.duration(to: timers.now) }

  private func stopMembers(_ reason: CallState.StopReason) {
    for member in book.withLock({ $0.stop(reason) }) { member.stop(reason) }
  }

  // MARK: - Progress

  private var wantsBytes: Bool {
    delivery.onProgress != nil || options.onProgress != nil || !accessories.isEmpty || parent?.wantsBytes == true
  }

  private func add(_ bytes: Int64) {
    book.withLock { $0.bytes = $0.bytes.addingReportingOverflow(bytes).partialValue }
    parent?.add(bytes)
    tellProgress()
  }

  /// Reports one after the other, each of them the newest there is; none after the end.
  private func tellProgress() {
    guard let lane, wantsBytes else { return }
    lane.run { [self] in
      guard !state.isClaimed else { return }
      let progress = progress
      for accessory in accessories { accessory.progressed(info, progress) }
      options.onProgress?(progress)
      delivery.onProgress?(info, progress)
    }
  }
}
