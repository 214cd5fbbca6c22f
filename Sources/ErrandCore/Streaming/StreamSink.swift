import ErrandSupport
import Foundation

/// Takes the body of an answer for a loop that reads it, and slows the server down where the loop is slower.
final class StreamSink: BodySink {
  private let state = Locked(StreamMachine())

  func begin(_ head: ResponseHead, flow: BodyFlow) -> BodyDisposition {
    state.withLock { $0.begin(head, flow) }?.resume()
    return .sink
  }

  func write(_ piece: UnsafeRawBufferPointer) -> Bool {
    let data = Data(piece)
    let (goesOn, waiter) = state.withLock { $0.put(data) }
    waiter?.resume()
    return goesOn
  }

  /// The bytes that wait for the loop.
  var held: Int { state.withLock { $0.held } }

  /// Whether the server is slowed down.
  var isPaused: Bool { state.withLock { $0.isPaused } }

  /// The end is told by the call.
  func end() {}

  /// The call has ended.
  func finish(_ response: HTTPResponse?, _ error: APIError?) {
    state.withLock { $0.finish(response, error) }?.resume()
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
      state.withLock { $0.wait(continuation, forHead: forHead) }?.resume()
    }
  }
}
