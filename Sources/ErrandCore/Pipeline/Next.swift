/// The rest of the pipeline after an interceptor. The interceptor calls this value to send a request.
public struct Next: Sendable {
  let pipeline: Pipeline
  let index: Int
  let context: CallContext
  let isForUserCode: Bool

  /// Sends the request through the rest of the pipeline and returns the response.
  public func callAsFunction(_ request: HTTPRequest) async throws -> HTTPResponse {
    if isForUserCode { return try await descendForUserCode(request) }
    return try await pipeline.run(request, from: index, context)
  }

  /// Sends the request through the rest of the pipeline with another context, and returns the response.
  package func callAsFunction(_ request: HTTPRequest, in context: CallContext) async throws -> HTTPResponse {
    try await pipeline.run(request, from: index, context)
  }

  /// Sends a request for an interceptor of the app, which may send several requests in a task group and cancel some of
  /// them. Each request has its own ``ErrandHTTP/CallState``, so that a cancelled request does not end the other
  /// requests.
  ///
  /// This function is separate, so that its local variables do not enlarge the async frames of all other interceptors.
  @inline(never)  // frame size
  private func descendForUserCode(_ request: HTTPRequest) async throws -> HTTPResponse {
    let parent = context.call
    try parent.check()
    // A `Next` that was stored and is called after the call has ended would send a request that cannot be cancelled.
    guard parent.isRunning else { throw CallState.Stopped(reason: .cancelled) }
    let child = CallState(following: parent, deadline: parent.deadline)
    defer { child.settle() }
    return try await parent.whileAsking({ reason in child.stop(reason) }) {
      try await withTaskCancellationHandler {
        try await pipeline.run(request, from: index, context.with(child))
      } onCancel: {
        child.stop(.cancelled)
      }
    }
  }
}
