import ErrandJSON
import ErrandSupport

/// Carries out requests: builds and sends them, validates and decodes their responses, and delivers the values.
///
/// ```swift
/// let client = APIClient(baseURL: "https://api.example.com")
/// let user = try await client.send(GetUser(id: 7))
/// ```
///
/// A client may be used from any thread. Several clients can work at the same time. Clients whose configurations choose
/// the same transport share the transport. If several configurations contain the same object, such as a cache, their
/// clients share the object. A call runs to its end even if the client is released.
public final class APIClient: Sendable {
  let services: ClientServices
  private let state: Locked<ClientSnapshot>
  let registry: CallRegistry

  package init(
    _ configuration: ClientConfiguration, registry: TransportRegistry = .shared,
    order: @escaping @Sendable (PipelineParts) -> [any Interceptor],
    platform: @escaping @Sendable () -> (any Transport)?, cache: (any ClientCache)? = nil
  ) {
    let missing = APIError.build(
      .unsupported, "No transport is available for this platform; set `transport` in the client's configuration.")
    let calls = CallRegistry()
    let refreshing = RefreshControl()
    self.registry = calls
    services = ClientServices(
      order: order, platform: { platform().map { .success($0) } ?? .failure(missing) }, registry: registry,
      admission: AdmissionControl(limits: configuration.admission), refreshing: refreshing,
      sessions: ClientSessions(refreshing) { calls.cancel(account: $0) }, standardCache: cache)
    let snapshot = ClientSnapshot(configuration, services)
    _ = snapshot.register(with: services.sessions)
    state = Locked(snapshot)
  }

  /// The current configuration. A new value applies to calls that start later.
  public var configuration: ClientConfiguration {
    get { snapshot.configuration }
    set { configure { $0 = newValue } }
  }

  /// Changes the configuration for calls that start later. If two threads change the configuration at the same time,
  /// `change` may run more than once; no change is lost.
  public func configure(_ change: (inout ClientConfiguration) -> Void) {
    var current = snapshot
    while true {
      var configuration = current.configuration
      change(&configuration)
      let made = ClientSnapshot(configuration, services)
      let before = current
      let (present, held) = state.withLock { present -> (ClientSnapshot, [any Sendable]) in
        guard present === before else { return (present, []) }
        present = made
        return (made, made.register(with: services.sessions))
      }
      current = present
      withExtendedLifetime(held) {}
      if current === made { return services.admission.change(made.timers) { snapshot.configuration.admission } }
    }
  }

  var snapshot: ClientSnapshot { state.withLock { $0 } }

  // MARK: - Sending

  /// Sends a request and returns its value.
  ///
  /// The call runs on the caller's executor; bodies over 16 KiB are decoded on the global executor. Cancelling the task
  /// cancels the call.
  /// - Throws: ``APIError``. A cancelled call throws an error of stage ``APIError/Stage/cancelled``.
  public func send<R: APIRequest>(
    _ request: R, options: CallOptions = CallOptions()
  ) async throws(APIError) -> R.Response {
    let typed = TypedCall(request)
    let run = run(typed, options)
    let result = await listen(to: run)
    return try typed.value(of: run.finish(result) { $0 })
  }

  /// Sends a request and returns its value together with the request as sent, the response, its source (such as the
  /// cache) and the metrics of the call.
  /// - Throws: ``APIError``.
  public func response<R: APIRequest>(
    _ request: R, options: CallOptions = CallOptions()
  ) async throws(APIError) -> APIResponse<R.Response> {
    let outcome = await outcome(of: request, options: options)
    if let error = outcome.error { throw error }
    guard let response = outcome.full else { throw Self.unanswered }
    return response
  }

  /// Sends a request and returns its outcome; never throws.
  public func outcome<R: APIRequest>(
    of request: R, options: CallOptions = CallOptions()
  ) async -> Outcome<R.Response> {
    let typed = TypedCall(request)
    let run = run(typed, options)
    let result = await listen(to: run)
    return run.finish(result) { typed.outcome($0) }
  }

  /// Sends a request and returns the raw response. The body is not decoded, and the request's hooks are not called.
  package func answer<R: APIRequest>(to request: R, options: CallOptions) async throws(APIError) -> HTTPResponse {
    let run = run(TypedCall(request, decodes: false), options)
    let ending = run.finish(await listen(to: run)) { $0 }
    if let error = ending.error { throw error }
    guard let response = ending.response else { throw Self.unanswered }
    return response
  }

  func formats(of request: some APIRequest) -> Formats {
    request.formats.filled(by: request.family?.formats).filled(by: configuration.formats)
  }

  static var unanswered: APIError {
    .fault(.transport, .other, "The call ended without a response and without an error.")
  }

  /// Makes the ``CallRun`` of a new call. The call runs on the caller's executor, but reports progress on the
  /// transport's thread. On the caller's executor, a progress report might wait for a busy actor and arrive after the
  /// response.
  func run<R: APIRequest>(
    _ typed: TypedCall<R>, _ options: CallOptions, _ kind: RunKind = .ordinary, onProgress: ProgressCallback? = nil
  ) -> CallRun {
    CallRun(typed, options, kind, snapshot, registry, callbacks: .init(onProgress: onProgress))
  }

  /// Runs the call on the caller's actor. If the task is cancelled, the call is stopped and ends as cancelled. But if
  /// the task was cancelled because the group of the call stops, the call ends for the same reason as the group. The
  /// closure `operation` refers to `isolation`, because the closure would otherwise run outside the caller's actor.
  func listen(
    to run: CallRun, in group: CallState? = nil, isolation: isolated (any Actor)? = #isolation
  ) async -> Outcome<Void> {
    await withTaskCancellationHandler(
      operation: {
        _ = isolation
        return await run.work()
      },
      onCancel: { run.state.stop(group?.stopReasonForChildren ?? .cancelled) }, isolation: isolation)
  }

  // MARK: - Running calls

  /// The calls that have not ended, including the members of groups.
  public var running: [Call] {
    registry.running.compactMap { entry in
      guard let info = entry.info, !entry.state.isClaimed else { return nil }
      return Call(info: info, state: entry.state)
    }
  }

  /// The batches, chains and custom groups that have not ended, including nested ones.
  public var runningGroups: [GroupCall] {
    registry.running.compactMap { entry in
      guard let record = entry.record, !entry.state.isClaimed else { return nil }
      return GroupCall(record)
    }
  }

  /// Cancels every call and group of an owner on this client. Returns the number of calls and groups that will now end
  /// as cancelled; the members of a group are not counted.
  @discardableResult
  public func cancel(owner: CallOwner) -> Int { registry.cancel(owner: owner.number) }

  /// Cancels every call and group with a tag. Returns the number of calls and groups that will now end as cancelled;
  /// the members of a group are not counted.
  @discardableResult
  public func cancel(tag: String) -> Int { registry.cancel { $0.tag.hasSameBytes(as: tag) } }

  /// Cancels every call and group. Returns the number of calls and groups that will now end as cancelled; the members
  /// of a group are not counted. Like the other `cancel` functions, this function does not cancel a call that refreshes
  /// a credential, nor a call that notifies a server of a logout. The function cancels the running downloads of a
  /// download queue, but not the downloads that wait in the queue. The waiting downloads then start.
  @discardableResult
  public func cancelAll() -> Int { registry.cancel { _ in true } }

  /// The last calls of this client with the decisions that the library made for them. The record is empty unless
  /// ``ClientConfiguration/record`` is on. It is kept if the configuration changes.
  public var flightRecord: FlightRecord { services.flightRecord }

  /// The number of running HTTP exchanges, and of calls that wait because a limit of ``ClientConfiguration/admission``
  /// is reached.
  public var admission: (running: Int, waiting: Int) { services.admission.counts }

  /// The number of running HTTP exchanges with one host, such as `api.example.com`, and of calls to this host that wait
  /// because a limit of ``ClientConfiguration/admission`` is reached. All origins of the host are counted together.
  public func admission(at host: String) -> (running: Int, waiting: Int) {
    services.admission.counts(at: host.lowercased())
  }
}

extension APIClient {
  /// Validates and decodes a response that did not pass through the pipeline, as a call of the request would do. Checks
  /// status, content type, JSON, ``APIError/businessCode`` and declared JSON structure, then decodes the body. The
  /// request is neither built nor sent; interceptors, accessories and hooks are not called.
  /// - Throws: ``APIError`` with the response. If the response is rejected, the error also contains the body, decoded
  ///   as the request's `ErrorBody`.
  package func value<R: APIRequest>(of response: HTTPResponse, for request: R) async throws(APIError) -> R.Response {
    let typed = TypedCall(request)
    let run = run(typed, CallOptions(), .validating)
    let result = await run.reading(response)
    run.state.settle()
    return try typed.value(of: run.finish(result) { $0 })
  }
}

extension APIClient {
  /// The name of the account that is logged in; nil if the client has no credential provider, or if no account is
  /// logged in.
  package var presentAccount: String? { snapshot.configuration.credentials?.account }

  /// The present account as a value of ``CallOptions/requiredAccount``, for work of several calls that belongs to one
  /// account: an empty text if no account is logged in, nil if the client has no credential provider.
  package var accountToRequire: String? { snapshot.configuration.credentials.map { $0.account ?? "" } }

  /// Ends an account's session on this client. Call this function if the client uses a credential provider of your own;
  /// ``CredentialStore/logout(_:farewell:)`` calls it for you.
  ///
  /// Cancels the calls that were started for the account; they fail with an error of code ``APIError/Code/loggedOut``.
  /// Also cancels running refreshes of the account's credential. Removes the account's entries from every cache that
  /// the client has used, removes the account's cookie jar, and notifies the client's accessories. Returns the number
  /// of calls that will now end as cancelled. Before you call this function, make sure that the provider returns
  /// another account. Otherwise calls that start during the logout still use the old account.
  @discardableResult
  public func endSession(of account: String) async -> Int {
    let count = await services.sessions.end(account)
    await services.sessions.forget(account)
    return count
  }

  /// Removes the cookies of an account, as part of a logout. Afterwards, responses to running calls of the account set
  /// no cookies. If `account` is nil, removes the cookies of calls without an account. The function has an effect only
  /// if ``ClientConfiguration/cookies`` uses, or has used, a separate cookie jar for each account. A jar that all
  /// accounts share is not changed.
  public func removeCookies(of account: String?) { services.sessions.forgetCookies(account) }
}
