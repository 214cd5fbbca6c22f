/// Whoever holds it wants the body; the call is cancelled when nobody does.
final class StreamLease: Sendable {
  let call: Call
  let sink: StreamSink

  init(_ call: Call, _ sink: StreamSink) {
    self.call = call
    self.sink = sink
  }

  deinit { call.cancel() }

  /// Waits for something new; the cancellation of the task cancels the call, which is told by the sink.
  func wait(forHead: Bool, isolation: isolated (any Actor)?) async {
    await withTaskCancellationHandler(
      operation: {
        _ = isolation
        await sink.wait(forHead: forHead)
      },
      onCancel: { call.cancel() }, isolation: isolation)
  }
}
