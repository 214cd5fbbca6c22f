import ErrandSupport
import Foundation

/// Receives the body of a response for a loop that reads it. If the loop is slower than the server, the sink pauses the
/// transport.
final class StreamSink: BodySink {
  private let state = Locked(StreamMachine())

  func begin(_ head: ResponseHead, flow: BodyFlow) throws -> BodyDisposition {
    for waiter in try state.withLock({ try $0.begin(head, flow) }) { waiter.resume() }
    return .sink
  }

  func write(_ piece: UnsafeRawBufferPointer) -> Bool {
    let data = Data(piece)
    let (goesOn, waiters) = state.withLock { $0.put(data) }
    for waiter in waiters { waiter.resume() }
    return goesOn
  }

  /// The number of bytes that are buffered for the loop.
  var held: Int { state.withLock { $0.held } }

  /// The number of waiting loops.
  var waiterCount: Int { state.withLock { $0.waiterCount } }

  /// Whether the transport is paused.
  var isPaused: Bool { state.withLock { $0.isPaused } }

  /// Does nothing, because ``finish(_:_:)`` reports the end when the call has ended.
  func end() {}

  /// Records that the call has ended.
  func finish(_ response: HTTPResponse?, _ error: APIError?) {
    for waiter in state.withLock({ $0.finish(response, error) }) { waiter.resume() }
  }

  /// The next step of the loop.
  func next() -> StreamMachine.Step {
    let (step, flow) = state.withLock { $0.next() }
    flow?.resume()
    return step
  }

  /// The response headers, or the error of a call that failed before the headers arrived; nil while the call has
  /// neither.
  func opened() -> Result<ResponseHead, APIError>? {
    state.withLock { state in
      if let head = state.head { return .success(head) }
      return state.failureBeforeHead.map { .failure($0) }
    }
  }

  /// Waits until there may be something to read.
  func wait(forHead: Bool) async {
    await withUnsafeContinuation { continuation in
      if !state.withLock({ $0.wait(continuation, forHead: forHead) }) { continuation.resume() }
    }
  }
}
