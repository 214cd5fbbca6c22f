import ErrandSupport

/// One run of a group of calls, such as a batch or a chain. The group does its work once and reports its end once.
final class GroupRun: Sendable {
  let info: GroupInfo
  let state: CallState
  let record: GroupRecord
  let client: APIClient
  let options: GroupOptions
  /// The account that all members of a batch must use: the account that is logged in when the batch starts. Nil if no
  /// account is logged in. Also nil for a chain outside of a batch, because each step uses the account that is logged
  /// in when the step starts.
  let requiredAccount: String?

  private let parent: GroupRun?
  /// The scope in which the group was started, if a call or a group waited for the code that started it; otherwise nil.
  private let origin: UserCodeScope?
  private let place: Int
  private let accessories: [any Accessory]
  private let log: CallLog?
  private let delivery: Delivery
  /// Keeps the callback jobs of the group in order; nil for a group that reports only its end, because a single job
  /// needs no order.
  private let callbackQueue: CallbackQueue?

  /// The executor on which the callbacks of a group run, and the closure that receives the progress of the group.
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
    origin = UserCodeScope.innermost
    requiredAccount = parent?.requiredAccount ?? (kind == .batch ? client.presentAccount : nil)
    self.delivery = delivery
    let now = snapshot.timers.now
    state = CallState(deadline: options.deadline.duration.map { now.advanced(by: $0) }, timers: snapshot.timers)
    info = GroupInfo(
      id: CallNumber.next(), name: name, kind: kind, tag: options.tag, indicator: options.indicator)
    record = GroupRecord(info, state, started: now)
    log = snapshot.configuration.log.map { [id = info.id] in CallLog(id: id, write: $0) }
    let isTooDeep = UserCodeScope.refusal(of: origin?.depth ?? 0) != nil
    accessories = isTooDeep ? [] : snapshot.configuration.accessories + options.accessories
    place = client.registry.add(.init(state: state, owner: options.ownership?.number, tag: options.tag, record: record))
    if let ownership = options.ownership { CallRun.enlist(state, with: ownership, in: client.registry) }
    let notifiesOnce = delivery.onProgress == nil && options.onProgress == nil && accessories.isEmpty
    callbackQueue = notifiesOnce ? nil : CallbackQueue(delivery.executor)
    tellAccessories { $0.willStart(info) }
  }

  // MARK: - The work

  /// Runs the body of the group on the caller's executor. If the group is stopped, its members are stopped. The members
  /// count as nested in the same calls as the group.
  func runBody<Value, Failure>(
    _ body: (GroupScope) async throws(Failure) -> Value
  ) async -> Result<Value, Failure> {
    await UserCodeScope.continuing(origin) { await runUnscoped(body) }
  }

  private func runUnscoped<Value, Failure>(
    _ body: (GroupScope) async throws(Failure) -> Value
  ) async -> Result<Value, Failure> {
    let scope = GroupScope(run: self)
    return await state.whileAsking({ self.record.stopMembers($0) }) {
      do throws(Failure) {
        return .success(try await body(scope))
      } catch {
        return .failure(error)
      }
    }
  }

  /// Runs the whole work of the group on the caller's executor. If the task is cancelled before the group ends, the
  /// group is stopped.
  func listening<Value>(
    isolation: isolated (any Actor)? = #isolation, _ work: () async -> Value
  ) async -> Value {
    await withTaskCancellationHandler(
      operation: {
        _ = isolation
        return await work()
      },
      onCancel: { state.stop(parent?.state.stopReasonForChildren ?? .cancelled) }, isolation: isolation)
  }

  /// Ends the work of the group: stops members that still run, then runs the `beforeCompletion` hook, but not on the
  /// callback executor. Returns the error of the group; nil for success.
  func settle(_ result: APIError?) async -> APIError? {
    record.close()
    var error = result
    if let reason = state.endsBy {
      error = stopError(reason)
    } else if result?.stage == .cancelled {
      // A single member may have been cancelled, or the body may have thrown a cancellation error. In that case the
      // group is cancelled now, so that both the ``GroupCall`` and the error say that the group was cancelled.
      state.stop(.cancelled)
    }
    state.settle()
    error = applyStop(to: error, by: state.endsBy)
    if runsHooks, let hook = options.beforeCompletion {
      let ending = GroupEnding(error: error, report: report)
      await UserCodeScope.during("\(info)", in: nesting) {
        await state.runningElsewhere { await hook(ending) }
      }
    }
    return error
  }

  // MARK: - The end

  /// Passes a job to the callback executor. The job runs after all earlier jobs of the group.
  func hand(_ job: @escaping @Sendable () -> Void) {
    if let callbackQueue { callbackQueue.run(job) } else { delivery.executor.run(job) }
  }

  /// Decides the final outcome, and notifies accessories, hooks and the callback. All of this happens in one job on the
  /// current executor.
  ///
  /// If `willStop` of an accessory or the hook `afterCompletion` cancels the group during this job, the callback
  /// receives a cancellation and no success. Later cancellations have no effect.
  func finish<Value>(_ result: APIError?, _ notify: (GroupEnding) -> Value) -> Value {
    let claimed = applyStop(to: result, by: state.claim())
    record.finish()
    let report = report
    func ending(_ reason: CallState.StopReason?) -> GroupEnding {
      GroupEnding(error: applyStop(to: claimed, by: reason), report: report)
    }
    tellAccessories { $0.willStop(info, GroupEnding(error: claimed, report: report)) }
    if runsHooks { options.afterCompletion?(ending(state.endsBy)) }
    let ending = ending(state.conclude())
    let value = notify(ending)
    // Not nested: the group has ended, so what `didStop` sends is a new call.
    for accessory in accessories { accessory.didStop(info, ending) }
    client.registry.remove(place)
    if let log {
      let name = info.description
      log.info(ending.error.map { "\(name) failed: \($0)" } ?? "\(name) done in \(ending.report.duration)")
    }
    return value
  }

  /// Returns the error of a group that was stopped for `reason`. If `reason` is nil, the group was not stopped, and the
  /// method returns the given error.
  private func applyStop(to error: APIError?, by reason: CallState.StopReason?) -> APIError? {
    guard let reason else { return error }
    let stopped = stopError(reason)
    return error?.stage == stopped.stage ? error : stopped
  }

  private func stopError(_ reason: CallState.StopReason) -> APIError {
    .stopped(reason, of: info, limit: state.isPastDeadline ? options.deadline.duration : nil)
  }

  /// Runs a group of calls on the caller's executor, and returns its outcome.
  func outcome<G: CallGroup>(of group: G) async -> GroupOutcome<G.Response> {
    let result = await listening { await endWork(await bodyResult(group)) }
    return finish(result.error) { $0.outcome(result) }
  }

  /// Runs the work of a started group. The body runs in a task that is cancelled when the group is stopped. So the body
  /// also stops when it waits for something else than its calls, for example in `Task.sleep`.
  func workInTask<G: CallGroup>(_ group: G) async -> Result<G.Response, APIError> {
    let task = Task { @concurrent in await self.bodyResult(group) }
    return await endWork(await state.whileAsking({ _ in task.cancel() }) { await task.value })
  }

  private func bodyResult<G: CallGroup>(_ group: G) async -> Result<G.Response, APIError> {
    await runBody { scope in try await group.body(in: scope) }.mapError { mapping($0) }
  }

  /// Converts an error that the body of the group threw into the error that the caller receives. The message of an
  /// error may quote the client's headers and fixed credential, so these secrets are masked.
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

  // MARK: - Code of the app

  /// The number of calls and groups in which this group is nested, see ``UserCodeScope``.
  private var nesting: Int { origin?.depth ?? 0 }

  /// True if the hooks of the group run. The hooks of a group that is nested too deeply do not run, and no accessory is
  /// notified. These hooks and accessories may have started the nested groups, and would start more. The calls of such
  /// a group fail.
  private var runsHooks: Bool { UserCodeScope.refusal(of: nesting) == nil }

  /// Notifies the accessories. Calls and groups that an accessory starts are nested in this group.
  private func tellAccessories(_ tell: (any Accessory) -> Void) {
    for accessory in accessories {
      UserCodeScope.during(type(of: accessory), in: nesting) { tell(accessory) }
    }
  }

  // MARK: - Members

  /// Registers a member that starts. If the group is stopped, the member is stopped, too. Returns the index of the
  /// member, or nil if the group has already ended.
  func begin(_ name: MemberName, _ member: CallState) -> Int? { record.begin(name, member) }

  /// Registers a nested group that starts as a member. Returns the index of the member, or nil if the group has already
  /// ended.
  func begin(_ inner: GroupRun) -> Int? { record.begin(MemberName(inner.info), inner.state, inner.record) }

  /// Records that a member has ended. Unless the group is a batch, also reports the progress of the group.
  func end(_ place: Int?, _ state: GroupReport.State, _ report: GroupReport? = nil) {
    if record.end(place, state, report) { reportProgress() }
  }

  /// Records that a member of a batch has ended, and reports the progress of the batch. The progress of a batch counts
  /// ended members, because the total number of members is known.
  func count() {
    record.count()
    reportProgress()
  }

  /// Adds the index and the name of the member to its error. For a batch, returns the error unchanged, because the code
  /// of the batch adds the index and the name.
  func namingMember(_ error: APIError, _ place: Int?, _ name: MemberName) -> APIError {
    guard let place, !record.isCounted else { return error }
    return error.ofMember(GroupMember(kind: info.kind, group: info.name, index: place, name: "\(name)"))
  }

  /// Makes a ``GroupMeter``, which adds the progress of one member to the progress of the group; nil if neither a
  /// callback nor an accessory receives progress.
  func meter() -> GroupMeter? { wantsBytes ? GroupMeter { [self] in add($0) } : nil }

  /// A report on the members that have started so far.
  var report: GroupReport { record.report }

  // MARK: - Progress

  private var wantsBytes: Bool {
    delivery.onProgress != nil || options.onProgress != nil || !accessories.isEmpty || parent?.wantsBytes == true
  }

  private func add(_ bytes: Int64) {
    record.add(bytes)
    parent?.add(bytes)
    reportProgress()
  }

  /// Reports the latest progress on the callback executor. Reports are delivered one after the other. No report follows
  /// the end of the group.
  private func reportProgress() {
    guard let callbackQueue, wantsBytes else { return }
    callbackQueue.run { [self] in
      guard !state.isClaimed else { return }
      let progress = record.progress
      tellAccessories { $0.progressed(info, progress) }
      options.onProgress?(progress)
      delivery.onProgress?(info, progress)
    }
  }
}

/// Converts the progress of one member into the number of bytes that are new for the group. A member reports how many
/// bytes of a body were transferred so far; the meter passes on the difference from the member's last report.
final class GroupMeter: Sendable {
  private struct State: Sendable {
    var up: Int64 = 0
    var down: Int64 = 0
    var keepsParts = false

    mutating func gain(_ progress: TransferProgress) -> Int64 {
      let before = progress.direction == .upload ? up : down
      if progress.direction == .upload { up = progress.bytes } else { down = progress.bytes }
      if keepsParts, progress.isRestart { return 0 }
      // If the transfer of a body restarts, the member counts its bytes from zero again.
      return progress.bytes < before ? progress.bytes : progress.bytes.subtractingReportingOverflow(before).partialValue
    }
  }

  private let state = Locked(State())
  private let add: @Sendable (Int64) -> Void

  init(_ add: @escaping @Sendable (Int64) -> Void) { self.add = add }

  /// Declares that the member downloads to a file. Bytes that the file already contains do not count as transferred.
  func keepsParts() { state.withLock { $0.keepsParts = true } }

  /// A closure that receives the progress of the member's call, and adds the new bytes to the progress of the group.
  var listener: ProgressCallback { { [self] _, progress in add(state.withLock { $0.gain(progress) }) } }
}
