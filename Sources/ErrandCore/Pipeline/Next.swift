/// The rest of the line, for an interceptor to call.
public struct Next: Sendable {
  let line: Line
  let index: Int
  let context: CallContext
  let isForUserCode: Bool

  /// Sends the request down the rest of the line and brings the answer.
  public func callAsFunction(_ request: HTTPRequest) async throws -> HTTPResponse {
    if isForUserCode { return try await descendForUserCode(request) }
    return try await line.run(request, from: index, context)
  }

  /// The same with another context: a note for the stations below, another life.
  package func callAsFunction(_ request: HTTPRequest, in context: CallContext) async throws -> HTTPResponse {
    try await line.run(request, from: index, context)
  }

  /// User code may call this from a task group and cancel the loser: a state of its own makes that one end alone. Apart,
  /// so that the ways down of all other stations hold no room for it.
  @inline(never)
  private func descendForUserCode(_ request: HTTPRequest) async throws -> HTTPResponse {
    let parent = context.call
    try parent.check()
    // One that was kept for later would send what nobody can cancel any more.
    guard parent.isRunning else { throw CallState.Stopped(reason: .cancelled) }
    let child = CallState(following: parent, deadline: parent.deadline)
    defer { child.settle() }
    return try await parent.whileAsking({ reason in child.stop(reason) }) {
      try await withTaskCancellationHandler {
        try await line.run(request, from: index, context.with(child))
      } onCancel: {
        child.stop(.cancelled)
      }
    }
  }
}
