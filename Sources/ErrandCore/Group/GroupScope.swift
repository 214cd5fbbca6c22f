/// A group at work, for its members: what is sent through it ends with it, belongs to its owner and stands in its plan.
///
/// It may be used from several tasks at once: branches side by side are `async let`s.
public struct GroupScope: CallSender {
  let run: GroupRun

  /// Who the group is.
  public var info: GroupInfo { run.info }
  /// What ran so far.
  public var report: GroupReport { run.report }
  /// Whether the group was cancelled, or its deadline has passed: nothing more is sent.
  public var isStopped: Bool { run.state.isStopped }

  /// Cancels the group: members that run end as cancelled, and so does the group, whatever its body returns.
  public func cancel() { run.state.stop(.cancelled) }

  /// Sends a request as a member of the group.
  /// - Throws: ``APIError``; ``APIError/members`` says which member of which group it was.
  public func send<R: APIRequest>(
    _ request: R, options: CallOptions = CallOptions()
  ) async throws(APIError) -> R.Response {
    let typed = TypedCall(request)
    let (ending, place) = await carryOut(typed, options) { typed.tell($0) }
    do throws(APIError) {
      return try typed.value(of: ending)
    } catch {
      throw run.placed(error, place, MemberName(of: request))
    }
  }

  /// Sends a request as a member of the group and returns how it ended; never throws.
  public func outcome<R: APIRequest>(
    of request: R, options: CallOptions = CallOptions()
  ) async -> Outcome<R.Response> {
    let typed = TypedCall(request)
    var told: Outcome<R.Response>?
    let (ending, place) = await carryOut(typed, options) { ending in told = typed.tell(ending) { _ in } }
    let outcome = told ?? typed.outcome(ending)
    return outcome.mapError { run.placed($0, place, MemberName(of: request)) }
  }

  /// Runs a group as a member of this one and returns how it ended; never throws.
  public func outcome<G: CallGroup>(
    of group: G, options: GroupOptions = GroupOptions()
  ) async -> GroupOutcome<G.Response> {
    let inner = GroupRun(group.kind, group.name, options, run.client, parent: run)
    let place = run.begin(inner)
    let outcome = await inner.outcome(of: group)
    run.end(place, outcome.error.map { .failed($0) } ?? .done, outcome.report)
    return GroupOutcome(
      result: outcome.result.mapError { run.placed($0, place, MemberName(inner.info)) }, report: outcome.report)
  }

  private func carryOut<R: APIRequest>(
    _ typed: TypedCall<R>, _ options: CallOptions, _ tell: (CallEnding) -> Void
  ) async -> (CallEnding, place: Int?) {
    let meter = run.meter()
    var options = run.options.forMember(options)
    options.requiredAccount = run.requiredAccount
    let call = run.client.run(typed, options, onProgress: meter?.listener)
    if call.download != nil { meter?.keepsParts() }
    let place = run.begin(MemberName(of: typed.request), call.state)
    let came = await run.client.listen(to: call, in: run.state)
    let ending = call.finish(came) { ending in
      tell(ending)
      return ending
    }
    run.end(place, GroupReport.State(ending))
    return (ending, place)
  }
}

extension GroupReport.State {
  /// How a call ended.
  init(_ ending: CallEnding) {
    if let error = ending.error {
      self = .failed(error)
    } else {
      self = .answered(ending.origin ?? .local, isJoined: ending.metrics.isJoined)
    }
  }
}
