import ErrandSupport

/// One run of a group of calls, such as a batch or a chain. The group does its work once and reports its end once.
final class GroupRun: Run {
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
  let place: Int
  let accessories: [any Accessory]
  let log: CallLog?
  private let callbacks: Callbacks
  let callbackQueue: CallbackQueue?
  /// Follows the group for tracing; nil if the client has no ``CallTracer``.
  private let trace: (any GroupTrace)?

  /// The executor on which the callbacks of a group run, and the closure that receives the progress of the group.
  struct Callbacks: Sendable {
    var executor = CallbackExecutor.inPlace
    var onProgress: GroupProgressCallback?
  }

  /// Registers the group and notifies the accessories that the group starts.
  init(
    _ kind: GroupKind, _ name: String, _ options: GroupOptions, _ client: APIClient, parent: GroupRun? = nil,
    callbacks: Callbacks = Callbacks()
  ) {
    let snapshot = client.snapshot
    let options = parent?.options.forGroup(options) ?? options
    self.client = client
    self.options = options
    self.parent = parent
    origin = UserCodeScope.innermost
    requiredAccount = parent?.requiredAccount ?? (kind == .batch ? client.presentAccount : nil)
    self.callbacks = callbacks
    let now = snapshot.timers.now
    state = CallState(deadline: options.deadline.duration.map { now.advanced(by: $0) }, timers: snapshot.timers)
    info = GroupInfo(
      id: CallNumber.next(), name: name, kind: kind, tag: options.tag, indicator: options.indicator)
    record = GroupRecord(info, state, started: now)
    log = snapshot.configuration.log.map { [id = info.id] in CallLog(id: id, write: $0) }
    let isTooDeep = UserCodeScope.refusal(of: origin?.depth ?? 0) != nil
    trace = isTooDeep ? nil : snapshot.configuration.tracer?.begin(info, snapshot.timers)
    accessories = isTooDeep ? [] : snapshot.configuration.accessories + options.accessories
    let isPart = parent.map { !$0.isRefused } ?? (origin != nil)
    place = client.registry.add(
      .init(state: state, subject: .group(record, owner: options.ownership?.number)), as: isPart ? .part : .own)
    if let ownership = options.ownership { CallRun.enlist(state, with: ownership, in: client.registry) }
    let notifiesOnce = callbacks.onProgress == nil && options.onProgress == nil && accessories.isEmpty
    callbackQueue = notifiesOnce ? nil : CallbackQueue(callbacks.executor)
    if isTooDeep { ProgressStream.end(in: options.accessories) }
    notifyAccessories { $0.willStart(info) }
  }

  /// True if the group was started while the client drains. Its members are then refused, too.
  var isRefused: Bool { place == CallRegistry.refused }

  // MARK: - The work

  /// Runs the body of the group on the caller's executor. If the group is stopped, its members are stopped. The members
  /// count as nested in the same calls as the group.
  func runBody<Value, Failure>(
    _ body: (GroupScope) async throws(Failure) -> Value
  ) async -> Result<Value, Failure> {
    await UserCodeScope.continuing(origin) {
      guard let trace else { return await runUnscoped(body) }
      return await trace.during { await runUnscoped(body) }
    }
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
    let ending = applyStop(to: GroupOutcome<Void>(error: error, report: report), by: state.endsBy)
    if runsHooks, let hook = options.beforeCompletion {
      await UserCodeScope.during("\(info)", in: nesting) {
        await state.runningElsewhere { await hook(ending) }
      }
    }
    return ending.error
  }

  // MARK: - The end

  func finish<Value>(error: APIError?, _ notify: (GroupOutcome<Void>) -> Value) -> Value {
    record.finish()
    return finish(GroupOutcome(error: error, report: report), notify)
  }

  var executor: CallbackExecutor { callbacks.executor }
  var registry: CallRegistry { client.registry }

  func didClaim() {}

  func didConclude(_ ending: GroupOutcome<Void>) { trace?.ended(ending) }

  func willStop(_ accessory: any Accessory, _ ending: GroupOutcome<Void>) { accessory.willStop(info, ending) }

  func didStop(_ accessory: any Accessory, _ ending: GroupOutcome<Void>) { accessory.didStop(info, ending) }

  func runHooks(after ending: () -> GroupOutcome<Void>) { options.afterCompletion?(ending()) }

  func logLine(_ ending: GroupOutcome<Void>) -> String {
    ending.error.map { "\(info) failed: \($0)" } ?? "\(info) done in \(ending.report.duration)"
  }

  func applyStop(to ending: GroupOutcome<Void>, by reason: CallState.StopReason?) -> GroupOutcome<Void> {
    guard let reason else { return ending }
    let stopped = stopError(reason)
    return ending.error?.stage == stopped.stage ? ending : GroupOutcome(error: stopped, report: ending.report)
  }

  private func stopError(_ reason: CallState.StopReason) -> APIError {
    let ownerEnd = reason == .cancelled ? APIError.ownerGone(options.ownership, of: "\(info.kind)") : nil
    return ownerEnd ?? .stopped(reason, of: info, limit: state.isPastDeadline ? options.deadline.duration : nil)
  }

  func outcome<G: CallGroup>(of group: G) async -> GroupOutcome<G.Response> {
    let result = await listening { await endWork(await bodyResult(group)) }
    return finish(error: result.error) { $0.outcome(result) }
  }

  /// Runs the work of a started group. The body runs in a task that is cancelled when the group is stopped. So the body
  /// also stops when it waits for something else than its calls, for example in `Task.sleep`.
  func workInTask<G: CallGroup>(_ group: G) async -> Result<G.Response, APIError> {
    let task = Task { @concurrent in await self.bodyResult(group) }
    return await endWork(await state.whileAsking({ _ in task.cancel() }) { await task.value })
  }

  private func bodyResult<G: CallGroup>(_ group: G) async -> Result<G.Response, APIError> {
    if isRefused { return .failure(.draining) }
    return await runBody { scope in try await group.body(in: scope) }.mapError { mapping($0) }
  }

  /// Converts an error that the body of the group threw into the error that the caller receives. The message of an
  /// error may quote the client's headers and fixed credential, so these secrets are masked.
  func mapping(_ error: any Error) -> APIError {
    let configuration = client.configuration
    var secrets = KnownSecrets()
    secrets.add(configuration.headers)
    if let fixed = configuration.credentials as? FixedCredential { secrets.add(fixed.credential) }
    return APIError.mapping(error, in: info).masking(secrets)
  }

  private func endWork<Value>(_ result: Result<Value, APIError>) async -> Result<Value, APIError> {
    let error = await settle(result.error)
    return error.map { .failure($0) } ?? result
  }

  // MARK: - Code of the app

  var nesting: Int { origin?.depth ?? 0 }

  /// True if the hooks of the group run. The hooks of a group that is nested too deeply do not run, and no accessory is
  /// notified. These hooks and accessories may have started the nested groups, and would start more. The calls of such
  /// a group fail.
  var runsHooks: Bool { UserCodeScope.refusal(of: nesting) == nil }

  // MARK: - Members

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

  var report: GroupReport { record.report }

  // MARK: - Progress

  private var wantsBytes: Bool {
    callbacks.onProgress != nil || options.onProgress != nil || !accessories.isEmpty || parent?.wantsBytes == true
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
      notifyAccessories { $0.progressed(info, progress) }
      options.onProgress?(progress)
      callbacks.onProgress?(info, progress)
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
