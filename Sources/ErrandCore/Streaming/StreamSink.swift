import ErrandSupport
import Foundation

/// Takes the body of an answer for a loop that reads it, and slows the server down where the loop is slower.
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

  /// The bytes that wait for the loop.
  var held: Int { state.withLock { $0.held } }

  /// How many loops wait.
  var waiterCount: Int { state.withLock { $0.waiterCount } }

  /// Whether the server is slowed down.
  var isPaused: Bool { state.withLock { $0.isPaused } }

  /// The end is told by the call.
  func end() {}

  /// The call has ended.
  func finish(_ response: HTTPResponse?, _ error: APIError?) {
    for waiter in state.withLock({ $0.finish(response, error) }) { waiter.resume() }
  }

  /// The next step of the loop.
  func next() -> StreamMachine.Step {
    let (step, flow) = state.withLock { $0.next() }
    flow?.resume()
    return step
  }

  /// The head, or why there is none; nil where it has not come.
  func opened() -> Result<ResponseHead, APIError>? {
    state.withLock { state in
      if let head = state.head { return .success(head) }
      return state.failureBeforeHead.map { .failure($0) }
    }
  }

  /// Waits until there may be something new.
  func wait(forHead: Bool) async {
    await withUnsafeContinuation { continuation in
      if !state.withLock({ $0.wait(continuation, forHead: forHead) }) { continuation.resume() }
    }
  }
}
