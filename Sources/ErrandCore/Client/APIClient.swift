import ErrandSupport

/// Carries out requests: builds, sends, judges, decodes and delivers them.
///
/// ```swift
/// let client = APIClient(baseURL: "https://api.example.com")
/// let user = try await client.send(GetUser(id: 7))
/// ```
///
/// A client may be used from any thread. Several clients work side by side. They share the platform's transport, or
/// the one they name, and what both are given. A call lives to its end though nobody holds the client.
public final class APIClient: Sendable {
  let fittings: ClientFittings
  private let state: Locked<ClientSnapshot>
  let registry: CallRegistry

  /// Makes a client from a configuration, an order of the line and a platform transport.
  package init(
    _ configuration: ClientConfiguration, registry: TransportRegistry = .shared,
    order: @escaping @Sendable (LineParts) -> [any Interceptor],
    platform: @escaping @Sendable () -> (any Transport)?, cache: (any AnswerCache)? = nil
  ) {
    let missing = APIError.build(
      .unsupported, "There is no transport for this platform; choose one in the configuration.")
    let calls = CallRegistry()
    let refreshing = RefreshControl()
    self.registry = calls
    fittings = ClientFittings(
      order: order, platform: { platform().map { .success($0) } ?? .failure(missing) }, registry: registry,
      admission: AdmissionControl(limits: configuration.admission), refreshing: refreshing,
      sessions: ClientSessions(calls, refreshing), standardCache: cache)
    let snapshot = ClientSnapshot(configuration, fittings)
    _ = snapshot.settle(in: fittings.sessions)
    state = Locked(snapshot)
  }

  /// How the client works now. Setting it counts for calls that start later.
  public var configuration: ClientConfiguration {
    get { snapshot.configuration }
    set { configure { $0 = newValue } }
  }

  /// Changes the configuration for calls that start later. `change` may run more than once when two threads change at
  /// the same time; no change is lost.
  public func configure(_ change: (inout ClientConfiguration) -> Void) {
    var current = snapshot
    while true {
      var configuration = current.configuration
      change(&configuration)
      let made = ClientSnapshot(configuration, fittings)
      let before = current
      let (present, held) = state.withLock { present -> (ClientSnapshot, [any Sendable]) in
        guard present === before else { return (present, []) }
        present = made
        return (made, made.settle(in: fittings.sessions))
      }
      current = present
      withExtendedLifetime(held) {}
      if current === made { return fittings.admission.change(made.timers) { snapshot.configuration.admission } }
    }
  }

  var snapshot: ClientSnapshot { state.withLock { $0 } }

  // MARK: - Sending

  /// Sends a request and returns its value.
  ///
  /// Runs where the caller is; bodies over 16 KiB are decoded elsewhere. Cancelling the task cancels the call.
  /// - Throws: ``APIError``; a cancelled call throws one of stage ``APIError/Stage/cancelled``.
  public func send<R: APIRequest>(
    _ request: R, options: CallOptions = CallOptions()
  ) async throws(APIError) -> R.Response {
    let typed = TypedCall(request)
    let run = run(typed, options)
    let came = await listen(to: run)
    let ending = run.finish(came) { ending in
      typed.tell(ending)
      return ending
    }
    return try typed.value(of: ending)
  }

  /// Sends a request and returns its value beside the request as sent, status, fields, raw body, origin and metrics.
  /// - Throws: ``APIError``.
  public func response<R: APIRequest>(
    _ request: R, options: CallOptions = CallOptions()
  ) async throws(APIError) -> APIResponse<R.Response> {
    let outcome = await outcome(of: request, options: options)
    let value = try outcome.result.get()
    guard let request = outcome.request, let raw = outcome.response, let origin = outcome.origin else {
      throw Self.unanswered
    }
    return APIResponse(value: value, request: request, raw: raw, origin: origin, metrics: outcome.metrics)
  }

  /// Sends a request and returns how it ended; never throws.
  public func outcome<R: APIRequest>(
    of request: R, options: CallOptions = CallOptions()
  ) async -> Outcome<R.Response> {
    let typed = TypedCall(request)
    let run = run(typed, options)
    let came = await listen(to: run)
    return run.finish(came) { typed.tell($0) { _ in } }
  }

  /// Sends a request and returns the answer itself; no value is made of it, and the request's hooks hear nothing.
  package func answer<R: APIRequest>(to request: R, options: CallOptions) async throws(APIError) -> HTTPResponse {
    let run = run(TypedCall(request, decodes: false), options)
    let ending = run.finish(await listen(to: run)) { $0 }
    if let error = ending.error { throw error }
    guard let response = ending.response else {
      throw Self.unanswered
    }
    return response
  }

  private static var unanswered: APIError {
    let code = APIError.Code(rawValue: TransportFailure.Kind.other.rawValue)
    return APIError(.transport, code, "The call ended without an answer.")
  }

  /// A run that works where the caller is. Progress is told in place, on the transport's thread: so all of it comes
  /// before the answer, also where the caller's actor is busy.
  func run<R: APIRequest>(
    _ typed: TypedCall<R>, _ options: CallOptions, onProgress: ProgressCallback? = nil
  ) -> CallRun {
    CallRun(typed, options, snapshot, registry, delivery: .init(executor: .inPlace, onProgress: onProgress))
  }

  /// The cancellation of the task only stops the call's state; a group that is being stopped gives its reason. The
  /// explicit isolation keeps the caller's actor, which the plain form of the handler would leave.
  func listen(
    to run: CallRun, in group: CallState? = nil, isolation: isolated (any Actor)? = #isolation
  ) async -> CallEnding {
    await withTaskCancellationHandler(
      operation: {
        _ = isolation
        return await run.work()
      },
      onCancel: { run.state.stop(group?.reasonToLeave ?? .cancelled) }, isolation: isolation)
  }

  // MARK: - What runs

  /// The calls that have not ended, members of groups included.
  public var running: [Call] {
    registry.running.compactMap { entry in
      guard let info = entry.info, !entry.state.isClaimed else { return nil }
      return Call(info: info, state: entry.state)
    }
  }

  /// The batches, chains and groups of your own that have not ended, those in other groups included.
  public var runningGroups: [GroupCall] {
    registry.running.compactMap { entry in
      guard let ledger = entry.ledger, !entry.state.isClaimed else { return nil }
      return GroupCall(ledger)
    }
  }

  /// Cancels every call and group of an owner on this client. Returns how many will now end as cancelled; a group
  /// counts for its members.
  @discardableResult
  public func cancel(owner: CallOwner) -> Int { registry.cancel { $0.owner == owner.number } }

  /// Cancels every call and group with a tag. Returns how many will now end as cancelled; a group counts for its
  /// members.
  @discardableResult
  public func cancel(tag: String) -> Int { registry.cancel { $0.tag == tag } }

  /// Cancels every call and group. Returns how many will now end as cancelled; a group counts for its members. The
  /// renewal of a credential and the farewell of a logout are spared, as by the other verbs, and what waits in a queue
  /// of downloads begins.
  @discardableResult
  public func cancelAll() -> Int { registry.cancel { _ in true } }

  /// The exchanges that run and the calls that wait for their turn.
  public var admission: (running: Int, waiting: Int) { fittings.admission.counts }

  /// The same at one host, such as `api.example.com`, over all its origins.
  public func admission(at host: String) -> (running: Int, waiting: Int) {
    fittings.admission.counts(at: host.lowercased())
  }
}

extension APIClient {
  /// Removes the cookies of an account, where ``ClientConfiguration/cookies`` keeps a jar for each, or did so before:
  /// part of a logout. Answers to its calls that are under way set none any more. One jar for all accounts is left as
  /// it is.
  public func removeCookies(of account: String?) { fittings.sessions.forgetCookies(account) }
}

extension APIClient {
  /// Judges and decodes an answer that came by another way than the line, as a call of this request would: status,
  /// content type, JSON, business code and shape, then the decoder. The request is neither built nor sent;
  /// interceptors, accessories and hooks hear nothing.
  /// - Throws: ``APIError`` with the answer, and where that was refused with its body as the request's type for errors.
  package func value<R: APIRequest>(of response: HTTPResponse, for request: R) async throws(APIError) -> R.Response {
    let typed = TypedCall(request)
    var options = CallOptions()
    // A run with a probe is told to nobody: accessory, hook or log.
    options.probe = { _, _ in }
    let run = run(typed, options)
    let came = await run.reading(response)
    run.state.settle()
    return try typed.value(of: run.finish(came) { $0 })
  }
}
