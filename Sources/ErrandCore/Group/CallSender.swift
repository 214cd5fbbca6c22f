/// Whatever sends requests and groups: a client, or a group for its members.
///
/// Code that takes one works on its own and as a part of a batch or a chain:
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

  /// Sends a request and returns how it ended; never throws.
  func outcome<R: APIRequest>(of request: R, options: CallOptions) async -> Outcome<R.Response>

  /// Runs a group and returns how it ended, with the plan of what ran; never throws.
  func outcome<G: CallGroup>(of group: G, options: GroupOptions) async -> GroupOutcome<G.Response>
}

extension CallSender {
  /// Sends a request and returns its value.
  /// - Throws: ``APIError``.
  public func send<R: APIRequest>(_ request: R) async throws(APIError) -> R.Response {
    try await send(request, options: CallOptions())
  }

  /// Sends a request and returns how it ended; never throws.
  public func outcome<R: APIRequest>(of request: R) async -> Outcome<R.Response> {
    await outcome(of: request, options: CallOptions())
  }

  /// Runs a group and returns its value.
  /// - Throws: ``APIError``; ``APIError/members`` says which member failed.
  public func send<G: CallGroup>(
    _ group: G, options: GroupOptions = GroupOptions()
  ) async throws(APIError) -> G.Response {
    try await outcome(of: group, options: options).result.get()
  }

  /// Runs a group and returns how it ended, with the plan of what ran; never throws.
  public func outcome<G: CallGroup>(of group: G) async -> GroupOutcome<G.Response> {
    await outcome(of: group, options: GroupOptions())
  }
}
