import ErrandSupport

/// A running group, for use in the body and in the steps of the group. A call that is sent through the scope is a
/// member of the group. The call is listed in the report of the group, and is stopped when the group ends. By default
/// the call has the owner of the group.
///
/// Several tasks may use the scope at the same time, for example concurrent branches that are written with `async let`.
public struct GroupScope: Sendable {
  let run: any GroupRunning

  /// True if the group was cancelled or its deadline has passed. In both cases no further request of the group is sent.
  public var isStopped: Bool { run.state.isStopped }

  /// Cancels the group. Its running members end as cancelled, and the group ends as cancelled even if its body returns
  /// a value.
  public func cancel() { run.state.stop(.cancelled) }

  /// Sends a request as a member of the group.
  /// - Throws: ``APIError``; ``APIError/members`` names the member and its group.
  public func send<R: APIRequest>(
    _ request: R, options: CallOptions = CallOptions()
  ) async throws(APIError) -> R.Response {
    try await run.send(request, options)
  }

  /// Sends a request as a member of the group and returns its outcome; never throws.
  public func outcome<R: APIRequest>(
    of request: R, options: CallOptions = CallOptions()
  ) async -> Outcome<R.Response> {
    await run.outcome(of: request, options)
  }

  /// Runs another group as a member of this group and returns its outcome; never throws.
  public func outcome<G: CallGroup>(
    of group: G, options: GroupOptions = GroupOptions()
  ) async -> GroupOutcome<G.Response> {
    await run.outcome(of: group, options)
  }

  /// Runs a chain as a member of this group.
  /// - Throws: The error of the closure.
  public func chain<Value, Failure>(
    options: GroupOptions = GroupOptions(), _ steps: (GroupScope) async throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    try await run.chain(options, steps)
  }
}

/// One run of a group, as ``GroupScope`` uses it. The class `GroupRun` of the client implements this protocol, so that
/// requests and groups do not depend on the client.
protocol GroupRunning: AnyObject, Sendable {
  var info: GroupInfo { get }
  /// The state of the group: its deadline, and whether the group is stopped.
  var state: CallState { get }
  /// Records the members of the group and their progress.
  var record: GroupRecord { get }

  func send<R: APIRequest>(_ request: R, _ options: CallOptions) async throws(APIError) -> R.Response
  func outcome<R: APIRequest>(of request: R, _ options: CallOptions) async -> Outcome<R.Response>
  func outcome<G: CallGroup>(of group: G, _ options: GroupOptions) async -> GroupOutcome<G.Response>
  func chain<Value, Failure>(
    _ options: GroupOptions, _ steps: (GroupScope) async throws(Failure) -> Value
  ) async throws(Failure) -> Value
  /// Records that a member of a batch has ended.
  func count()
}

extension APIRequest {
  /// Sends the request as a member of the group.
  public func run(in group: GroupScope) async throws(APIError) -> Response { try await group.send(self) }
}
