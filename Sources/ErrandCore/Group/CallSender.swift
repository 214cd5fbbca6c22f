/// Sends requests and groups. A client is a sender; a group is a sender for its members.
///
/// A function with a `CallSender` parameter works with a client, and also inside a batch or a chain:
///
/// ```swift
/// func load(_ id: Int, by sender: some CallSender) async throws -> Page {
///   try await sender.send(GetPage(id: id))
/// }
/// ```
public protocol CallSender: Sendable {
  /// Sends a request and returns its value.
  /// - Throws: ``APIError``.
  func send<R: APIRequest>(_ request: R, options: CallOptions) async throws(APIError) -> R.Response

  /// Sends a request and returns its outcome; never throws.
  func outcome<R: APIRequest>(of request: R, options: CallOptions) async -> Outcome<R.Response>

  /// Runs a group and returns its outcome with a report of its members; never throws.
  func outcome<G: CallGroup>(of group: G, options: GroupOptions) async -> GroupOutcome<G.Response>
}

extension CallSender {
  /// Sends a request and returns its value.
  /// - Throws: ``APIError``.
  public func send<R: APIRequest>(_ request: R) async throws(APIError) -> R.Response {
    try await send(request, options: CallOptions())
  }

  /// Sends a request and returns its outcome; never throws.
  public func outcome<R: APIRequest>(of request: R) async -> Outcome<R.Response> {
    await outcome(of: request, options: CallOptions())
  }

  /// Runs a group and returns its value.
  /// - Throws: ``APIError``; ``APIError/members`` names the member that failed.
  public func send<G: CallGroup>(
    _ group: G, options: GroupOptions = GroupOptions()
  ) async throws(APIError) -> G.Response {
    try await outcome(of: group, options: options).result.get()
  }

  /// Runs a group and returns its outcome with a report of its members; never throws.
  public func outcome<G: CallGroup>(of group: G) async -> GroupOutcome<G.Response> {
    await outcome(of: group, options: GroupOptions())
  }
}

extension CallSender {
  /// Sends requests of different types concurrently and returns their values. The first failure cancels the other
  /// requests and is thrown.
  ///
  /// ```swift
  /// let (user, avatar, news) = try await client.batch(GetUser(id: 7), Avatar(name: "x"), LatestNews())
  /// ```
  /// - Parameters:
  ///   - step: The requests. Groups and custom steps are possible, too.
  ///   - width: The maximum number of members that run at the same time; nil for no limit. A value below one counts as
  ///     one.
  ///   - options: The options of the batch as a whole.
  /// - Throws: ``APIError``; ``APIError/members`` names the request that failed.
  public func batch<each S: GroupStep>(
    _ step: repeat each S, width: Int? = nil, options: GroupOptions = GroupOptions()
  ) async throws(APIError) -> (repeat (each S).Response) {
    try await send(Batch(repeat each step, width: width), options: options)
  }

  /// Sends requests of one type concurrently and returns their values in the order of the requests. The first failure
  /// cancels the other requests and is thrown.
  /// - Throws: ``APIError``; ``APIError/members`` names the request that failed.
  public func batch<S: Sequence>(
    _ steps: S, width: Int? = nil, options: GroupOptions = GroupOptions()
  ) async throws(APIError) -> [S.Element.Response] where S.Element: GroupStep {
    try await send(Batch(steps, width: width), options: options)
  }

  /// Sends requests of mixed types concurrently and returns their values in the order of the requests. The first
  /// failure cancels the other requests and is thrown.
  /// - Throws: ``APIError``; ``APIError/members`` names the request that failed.
  public func batch(
    mixed steps: [any GroupStep], width: Int? = nil, options: GroupOptions = GroupOptions()
  ) async throws(APIError) -> [any Sendable] {
    try await send(Batch(mixed: steps, width: width), options: options)
  }

  /// Sends requests of one type concurrently and returns the result of each, in the order of the requests.
  ///
  /// A failure does not affect other members. If the whole batch is cancelled or its deadline passes, the result of
  /// each member that has not ended is a failure of stage ``APIError/Stage/cancelled`` or ``APIError/Stage/deadline``.
  public func outcomes<S: Sequence>(
    of steps: S, width: Int? = nil, options: GroupOptions = GroupOptions()
  ) async -> [Result<S.Element.Response, APIError>] where S.Element: GroupStep {
    let uniform = UniformMembers(Array(steps))
    let failure = await ended(uniform.members, width, options)
    return uniform.slots.map { $0.outcome(else: failure) }
  }

  /// Sends requests of different types concurrently and returns the result of each, as a tuple.
  ///
  /// ```swift
  /// let (user, avatar) = await client.outcomes(GetUser(id: 7), Avatar(name: "x"))
  /// ```
  /// A failure does not affect other members, as in ``outcomes(of:width:options:)``.
  public func outcomes<each S: GroupStep>(
    _ step: repeat each S, width: Int? = nil, options: GroupOptions = GroupOptions()
  ) async -> (repeat Result<(each S).Response, APIError>) {
    let slots = (repeat BatchSlot.fitting(each step))
    var members: [AnyMember] = []
    repeat members.append(AnyMember(each step, each slots))
    let failure = await ended(BatchMembers(members), width, options)
    return (repeat (each slots).outcome(else: failure))
  }

  /// Sends requests of mixed types concurrently and returns the result of each, in the order of the requests.
  ///
  /// A failure does not affect other members, as in ``outcomes(of:width:options:)``.
  public func outcomes(
    mixed steps: [any GroupStep], width: Int? = nil, options: GroupOptions = GroupOptions()
  ) async -> [Result<any Sendable, APIError>] {
    await outcomes(of: steps.map(AnyStep.init), width: width, options: options)
  }

  /// Runs a batch of the members, and waits until the batch has ended. Returns the error that the caller uses as the
  /// result of each member that was never started.
  private func ended(_ members: BatchMembers, _ width: Int?, _ options: GroupOptions) async -> APIError {
    let batch = Batch(.outcomes, width: width) { .init(members: members) { _ throws(APIError) in Nothing() } }
    return await outcome(of: batch, options: options).error ?? .stopped(.cancelled)
  }

  /// Sends requests concurrently and returns the first value that arrives; the other requests are then cancelled.
  /// - Throws: ``APIError``: the first failure, if all requests fail.
  public func first<S: Sequence>(
    of steps: S, width: Int? = nil, options: GroupOptions = GroupOptions()
  ) async throws(APIError) -> S.Element.Response where S.Element: GroupStep {
    try await send(Batch(firstOf: steps, width: width), options: options)
  }

  /// Sends requests of mixed types concurrently and returns the first value that arrives; the other requests are then
  /// cancelled.
  /// - Throws: ``APIError``: the first failure, if all requests fail.
  public func first(
    mixed steps: [any GroupStep], width: Int? = nil, options: GroupOptions = GroupOptions()
  ) async throws(APIError) -> any Sendable {
    try await send(Batch(firstOfMixed: steps, width: width), options: options)
  }

  /// Sends requests concurrently until `count` of them have succeeded, and returns their values in the order of the
  /// requests. The other requests are then cancelled.
  /// - Throws: ``APIError``: the first failure, as soon as so many requests have failed that `count` successes are
  ///   impossible.
  public func atLeast<S: Sequence>(
    _ count: Int, of steps: S, width: Int? = nil, options: GroupOptions = GroupOptions()
  ) async throws(APIError) -> [S.Element.Response] where S.Element: GroupStep {
    try await send(Batch(atLeast: count, of: steps, width: width), options: options)
  }

  /// Sends requests of mixed types concurrently until `count` of them have succeeded, and returns their values in the
  /// order of the requests. The other requests are then cancelled.
  /// - Throws: ``APIError``: the first failure, as soon as so many requests have failed that `count` successes are
  ///   impossible.
  public func atLeast(
    _ count: Int, mixed steps: [any GroupStep], width: Int? = nil, options: GroupOptions = GroupOptions()
  ) async throws(APIError) -> [any Sendable] {
    try await send(Batch(atLeast: count, ofMixed: steps, width: width), options: options)
  }
}

extension GroupScope: CallSender {}
