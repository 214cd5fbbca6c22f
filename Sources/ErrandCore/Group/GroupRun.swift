import ErrandSupport

/// One run of a group: works once, finishes once.
final class GroupRun: Sendable {
  let info: GroupInfo
  let state: CallState
  let ledger: GroupLedger
  let client: APIClient
  let options: GroupOptions
  /// For whom a batch was begun, with all that is in it; nil for nobody, and for a chain that is in none: what that does
  /// next is decided as it goes.
  let requiredAccount: String?

  private let parent: GroupRun?
  private let place: Int
  private let accessories: [any Accessory]
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
  init(
    _ kind: GroupKind, _ name: String, _ options: GroupOptions, _ client: APIClient, parent: GroupRun? = nil,
    delivery: Delivery = Delivery()
  ) {
    let snapshot = client.snapshot
    let options = parent?.options.forGroup(options) ?? options
    self.client = client
    self.options = options
    self.parent = parent
    requiredAccount = parent?.requiredAccount ?? (kind == .batch ? client.presentAccount : nil)
    self.delivery = delivery
    let now = snapshot.timers.now
    state = CallState(deadline: options.deadline.duration.map { now.advanced(by: $0) }, timers: snapshot.timers)
    info = GroupInfo(
      id: CallNumber.next(), name: name, kind: kind, tag: options.tag, indicator: options.indicator)
    ledger = GroupLedger(info, state, started: now)
    log = snapshot.configuration.log.map { [id = info.id] in CallLog(id: id, write: $0) }
    accessories = snapshot.configuration.accessories + options.accessories
    place = client.registry.add(.init(state: state, owner: options.ownership?.number, tag: options.tag, ledger: ledger))
    if let ownership = options.ownership { CallRun.enlist(state, with: ownership, in: client.registry) }
    let tellsOnce = delivery.onProgress == nil && options.onProgress == nil && accessories.isEmpty
    lane = tellsOnce ? nil : CallbackLane(delivery.executor)
    for accessory in accessories { accessory.willStart(info) }
  }

  // MARK: - The work

  /// Runs the body where the caller is. A stop of the group stops its members.
  func live<Value, Failure>(
    _ body: (GroupScope) async throws(Failure) -> Value
  ) async -> Result<Value, Failure> {
    let scope = GroupScope(run: self)
    return await state.whileAsking({ self.ledger.stopMembers($0) }) {
      do throws(Failure) {
        return .success(try await body(scope))
      } catch {
        return .failure(error)
      }
    }
  }

  /// Runs the whole work where the caller is: the cancellation of the task only stops the group, up to its end.
  func listening<Value>(
    isolation: isolated (any Actor)? = #isolation, _ work: () async -> Value
  ) async -> Value {
    await withTaskCancellationHandler(
      operation: {
        _ = isolation
        return await work()
      },
      onCancel: { state.stop(parent?.state.reasonToLeave ?? .cancelled) }, isolation: isolation)
  }

  /// Ends the work: what was left behind ends, and the hook runs that is off the callback executor.
  func settle(_ came: APIError?) async -> APIError? {
    ledger.close()
    var error = came
    if let reason = state.endsBy {
      error = stopError(reason)
    } else if came?.stage == .cancelled {
      // A member that was cancelled alone, or user code that throws a cancellation of its own, cancels the group: the
      // handle and the error say the same.
      state.stop(.cancelled)
    }
    state.settle()
    error = turned(error, by: state.endsBy)
    if let hook = options.beforeCompletion {
      let ending = GroupEnding(error: error, report: report)
      await state.runningElsewhere { await hook(ending) }
    }
    return error
  }

  // MARK: - The end

  /// Hands a job to the callback executor, behind what was told before.
  func hand(_ job: @escaping @Sendable () -> Void) {
    if let lane { lane.run(job) } else { delivery.executor.run(job) }
  }

  /// Claims the outcome and tells everybody, in one job on the executor it is called on.
  ///
  /// Accessories and hooks that run here may cancel the group; no success follows then.
  func finish<Told>(_ came: APIError?, _ tell: (GroupEnding) -> Told) -> Told {
    let claimed = turned(came, by: state.claim())
    ledger.finish()
    let report = report
    func ending(_ reason: CallState.StopReason?) -> GroupEnding {
      GroupEnding(error: turned(claimed, by: reason), report: report)
    }
    for accessory in accessories { accessory.willStop(info, GroupEnding(error: claimed, report: report)) }
    if let hook = options.afterCompletion { hook(ending(state.endsBy)) }
    let ending = ending(state.conclude())
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
    let stopped = stopError(reason)
    return error?.stage == stopped.stage ? error : stopped
  }

  private func stopError(_ reason: CallState.StopReason) -> APIError {
    .stopped(reason, of: info, limit: state.isPastDeadline ? options.deadline.duration : nil)
  }

  /// The whole run of a group, where the caller is.
  func outcome<G: CallGroup>(of group: G) async -> GroupOutcome<G.Response> {
    let came = await listening { await settled(await bodied(group)) }
    return finish(came.error) { $0.outcome(came) }
  }

  /// The work of a group that was started. Its body runs in a task that a stop of the group cancels, so that it reaches
  /// whatever else the body waits for.
  func workInTask<G: CallGroup>(_ group: G) async -> Result<G.Response, APIError> {
    let task = Task { @concurrent in await self.bodied(group) }
    return await settled(await state.whileAsking({ _ in task.cancel() }) { await task.value })
  }

  private func bodied<G: CallGroup>(_ group: G) async -> Result<G.Response, APIError> {
    await live { scope in try await group.body(in: scope) }.mapError { mapping($0) }
  }

  /// What an error thrown in the body means to the caller. It may quote what the client shows with every call.
  func mapping(_ error: any Error) -> APIError {
    let configuration = client.configuration
    var secrets = KnownSecrets()
    secrets.add(configuration.headers)
    if let fixed = configuration.credentials as? FixedCredential { secrets.add(fixed) }
    return APIError.mapping(error, in: info).masking(secrets)
  }

  private func settled<Value>(_ came: Result<Value, APIError>) async -> Result<Value, APIError> {
    let error = await settle(came.error)
    return error.map { .failure($0) } ?? came
  }

  // MARK: - Members

  /// A member begins: it ends with the group. Returns its place; nil where the group is over.
  func begin(_ name: MemberName, _ member: CallState) -> Int? { ledger.begin(name, member) }

  /// A group begins as a member.
  func begin(_ inner: GroupRun) -> Int? { ledger.begin(MemberName(inner.info), inner.state, inner.ledger) }

  /// A member has ended.
  func end(_ place: Int?, _ state: GroupReport.State, _ report: GroupReport? = nil) {
    if ledger.end(place, state, report) { tellProgress() }
  }

  /// One of the members that are counted has ended.
  func count() {
    ledger.count()
    tellProgress()
  }

  /// The error as one of a step; in a batch that knows its members by their order, as it is.
  func placed(_ error: APIError, _ place: Int?, _ name: MemberName) -> APIError {
    guard let place, !ledger.isCounted else { return error }
    return error.ofMember(GroupMember(kind: info.kind, group: info.name, index: place, name: "\(name)"))
  }

  /// What a member's progress adds to the group's; nil where nobody wants to know.
  func meter() -> GroupMeter? { wantsBytes ? GroupMeter { [self] in add($0) } : nil }

  /// What ran so far.
  var report: GroupReport { ledger.report }

  // MARK: - Progress

  private var wantsBytes: Bool {
    delivery.onProgress != nil || options.onProgress != nil || !accessories.isEmpty || parent?.wantsBytes == true
  }

  private func add(_ bytes: Int64) {
    ledger.add(bytes)
    parent?.add(bytes)
    tellProgress()
  }

  /// Reports one after the other, each of them the newest there is; none after the end.
  private func tellProgress() {
    guard let lane, wantsBytes else { return }
    lane.run { [self] in
      guard !state.isClaimed else { return }
      let progress = ledger.progress
      for accessory in accessories { accessory.progressed(info, progress) }
      options.onProgress?(progress)
      delivery.onProgress?(info, progress)
    }
  }
}
