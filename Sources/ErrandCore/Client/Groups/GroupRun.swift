import ErrandSupport

/// One run of a group. The group does its work once and reports its end once.
final class GroupRun: Sendable {
  let info: GroupInfo
  let state: CallState
  let ledger: GroupLedger
  let client: APIClient
  let options: GroupOptions
  /// The account that is logged in when a batch starts; all members of the batch must use it. Nil if no account is
  /// logged in. Also nil for a chain outside of a batch, because each step uses the account that is logged in when the
  /// step starts.
  let requiredAccount: String?

  private let parent: GroupRun?
  private let place: Int
  private let accessories: [any Accessory]
  private let log: CallLog?
  private let delivery: Delivery
  /// Keeps the callback jobs of the group in order; nil for a group that reports only its end, because a single job
  /// needs no order.
  private let lane: CallbackQueue?

  /// The executor of the group's callbacks, and its progress closure.
  struct Delivery: Sendable {
    var executor = CallbackExecutor.inPlace
    var onProgress: GroupProgressCallback?
  }

  /// Registers the group and notifies the accessories that the group starts.
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
    lane = tellsOnce ? nil : CallbackQueue(delivery.executor)
    for accessory in accessories { accessory.willStart(info) }
  }

  // MARK: - The work

  /// Runs the body of the group on the caller's executor. If the group is stopped, its members are stopped.
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

  /// Runs the whole work of the group on the caller's executor. If the task is cancelled before the group ends, only
  /// the group's state is stopped.
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

  /// Ends the work of the group: stops members that still run, then runs the `beforeCompletion` hook, but not on the
  /// callback executor. Returns the error of the group; nil for success.
  func settle(_ result: APIError?) async -> APIError? {
    ledger.close()
    var error = result
    if let reason = state.endsBy {
      error = stopError(reason)
    } else if result?.stage == .cancelled {
      // If a single member was cancelled, or the body throws its own cancellation error, the group is cancelled, so
      // that the handle and the error agree.
      state.stop(.cancelled)
    }
    state.settle()
    error = applyStop(to: error, by: state.endsBy)
    if let hook = options.beforeCompletion {
      let ending = GroupEnding(error: error, report: report)
      await state.runningElsewhere { await hook(ending) }
    }
    return error
  }

  // MARK: - The end

  /// Passes a job to the callback executor. The job runs after all earlier jobs of the group.
  func hand(_ job: @escaping @Sendable () -> Void) {
    if let lane { lane.run(job) } else { delivery.executor.run(job) }
  }

  /// Fixes the outcome, and notifies accessories, hooks and the callback, in one job on the current executor.
  ///
  /// If an accessory or a hook cancels the group here, the callback receives a cancellation and no success.
  func finish<Value>(_ result: APIError?, _ notify: (GroupEnding) -> Value) -> Value {
    let claimed = applyStop(to: result, by: state.claim())
    ledger.finish()
    let report = report
    func ending(_ reason: CallState.StopReason?) -> GroupEnding {
      GroupEnding(error: applyStop(to: claimed, by: reason), report: report)
    }
    for accessory in accessories { accessory.willStop(info, GroupEnding(error: claimed, report: report)) }
    if let hook = options.afterCompletion { hook(ending(state.endsBy)) }
    let ending = ending(state.conclude())
    let value = notify(ending)
    for accessory in accessories { accessory.didStop(info, ending) }
    client.registry.remove(place)
    if let log {
      let name = info.description
      log.info(ending.error.map { "\(name) failed: \($0)" } ?? "\(name) done in \(ending.report.duration)")
    }
    return value
  }

  /// The error of the stop if the group was stopped, otherwise the given error.
  private func applyStop(to error: APIError?, by reason: CallState.StopReason?) -> APIError? {
    guard let reason else { return error }
    let stopped = stopError(reason)
    return error?.stage == stopped.stage ? error : stopped
  }

  private func stopError(_ reason: CallState.StopReason) -> APIError {
    .stopped(reason, of: info, limit: state.isPastDeadline ? options.deadline.duration : nil)
  }

  /// Runs a group on the caller's executor.
  func outcome<G: CallGroup>(of group: G) async -> GroupOutcome<G.Response> {
    let result = await listening { await endWork(await bodied(group)) }
    return finish(result.error) { $0.outcome(result) }
  }

  /// Runs the work of a started group. The body runs in a task that is cancelled when the group is stopped. So a stop
  /// also ends waits in the body that are not calls of the group.
  func workInTask<G: CallGroup>(_ group: G) async -> Result<G.Response, APIError> {
    let task = Task { @concurrent in await self.bodied(group) }
    return await endWork(await state.whileAsking({ _ in task.cancel() }) { await task.value })
  }

  private func bodied<G: CallGroup>(_ group: G) async -> Result<G.Response, APIError> {
    await live { scope in try await group.body(in: scope) }.mapError { mapping($0) }
  }

  /// Converts an error that the body threw into the error that the caller receives. The client's headers and fixed
  /// credential are masked in the error, because the message of the body's error may quote them.
  func mapping(_ error: any Error) -> APIError {
    let configuration = client.configuration
    var secrets = KnownSecrets()
    secrets.add(configuration.headers)
    if let fixed = configuration.credentials as? FixedCredential { secrets.add(fixed) }
    return APIError.mapping(error, in: info).masking(secrets)
  }

  private func endWork<Value>(_ result: Result<Value, APIError>) async -> Result<Value, APIError> {
    let error = await settle(result.error)
    return error.map { .failure($0) } ?? result
  }

  // MARK: - Members

  /// Registers a member that starts; the member ends with the group. Returns the index of the member; nil if the group
  /// has ended.
  func begin(_ name: MemberName, _ member: CallState) -> Int? { ledger.begin(name, member) }

  /// Registers a nested group that starts as a member.
  func begin(_ inner: GroupRun) -> Int? { ledger.begin(MemberName(inner.info), inner.state, inner.ledger) }

  /// Records that a member has ended.
  func end(_ place: Int?, _ state: GroupReport.State, _ report: GroupReport? = nil) {
    if ledger.end(place, state, report) { tellProgress() }
  }

  /// Records that a member of a batch has ended. The total number of members of a batch is known, so its progress
  /// counts them.
  func count() {
    ledger.count()
    tellProgress()
  }

  /// Adds the index and the name of the member to the error. A batch is excluded here, because it adds them itself.
  func placed(_ error: APIError, _ place: Int?, _ name: MemberName) -> APIError {
    guard let place, !ledger.isCounted else { return error }
    return error.ofMember(GroupMember(kind: info.kind, group: info.name, index: place, name: "\(name)"))
  }

  /// Makes a meter that adds the progress of one member to the progress of the group; nil if neither a callback nor an
  /// accessory receives progress.
  func meter() -> GroupMeter? { wantsBytes ? GroupMeter { [self] in add($0) } : nil }

  /// The report on the members so far.
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

  /// Reports the latest progress on the callback executor. Reports are delivered one after the other, and none after
  /// the end of the group.
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

/// Converts the progress of one member into the number of bytes that are new for the group. The member reports the
/// total of each body; the meter passes on the difference from its last report.
final class GroupMeter: Sendable {
  private struct State: Sendable {
    var up: Int64 = 0
    var down: Int64 = 0
    var keepsParts = false

    mutating func gain(_ progress: TransferProgress) -> Int64 {
      let before = progress.direction == .upload ? up : down
      if progress.direction == .upload { up = progress.bytes } else { down = progress.bytes }
      if keepsParts, progress.isRestart { return 0 }
      // A body that restarts counts from zero again.
      return progress.bytes < before ? progress.bytes : progress.bytes.subtractingReportingOverflow(before).partialValue
    }
  }

  private let state = Locked(State())
  private let add: @Sendable (Int64) -> Void

  init(_ add: @escaping @Sendable (Int64) -> Void) { self.add = add }

  /// Tells the meter that the member downloads to a file: bytes that the file already contains do not count as
  /// transferred.
  func keepsParts() { state.withLock { $0.keepsParts = true } }

  /// The progress closure for the member's call.
  var listener: ProgressCallback { { [self] _, progress in add(state.withLock { $0.gain(progress) }) } }
}
