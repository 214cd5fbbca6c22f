import ErrandSupport
import Foundation

/// Receives the body of a response for a loop that reads the body. If the loop is slower than the server, the sink
/// pauses the transport.
final class StreamSink: BodySink {
  private let state = Locked(StreamMachine())

  func begin(_ head: ResponseHead, flow: BodyFlow) throws -> BodyDisposition {
    for waiter in try state.withLock({ try $0.begin(head, flow) }) { waiter.resume() }
    return .sink
  }

  func write(_ piece: UnsafeRawBufferPointer) -> Bool {
    let data = Data(piece)
    let (mayContinue, waiters) = state.withLock { $0.put(data) }
    for waiter in waiters { waiter.resume() }
    return mayContinue
  }

  /// The number of bytes that have arrived and that no loop has read yet.
  var bufferedBytes: Int { state.withLock { $0.bufferedBytes } }

  /// The number of loops that wait for response headers or for a piece of the body.
  var waiterCount: Int { state.withLock { $0.waiterCount } }

  /// Whether the transport is paused, because too many bytes are buffered for the loop.
  var isPaused: Bool { state.withLock { $0.isPaused } }

  /// Does nothing when the body ends, because ``finish(_:_:)`` is called at the end of the call and resumes the waiting
  /// loops.
  func end() {}

  /// Records that the call has ended, and resumes the loops that wait for the response.
  func finish(_ response: HTTPResponse?, _ error: APIError?) {
    for waiter in state.withLock({ $0.finish(response, error) }) { waiter.resume() }
  }

  /// Returns the next piece for the loop that reads the body, or why there is no piece. Resumes a paused transport if
  /// the loop has read enough.
  func next() -> StreamMachine.Step {
    let (step, flow) = state.withLock { $0.next() }
    flow?.resume()
    return step
  }

  /// Returns the response headers, or the error of a call that failed before the headers arrived. Returns nil if the
  /// headers have not arrived yet and the call still runs.
  func opened() -> Result<ResponseHead, APIError>? {
    state.withLock { state in
      if let head = state.head { return .success(head) }
      return state.failureBeforeHead.map { .failure($0) }
    }
  }

  /// Waits for the response headers if `forHead` is true, otherwise for a piece of the body. The wait also ends when
  /// the call has ended. The wait may end too early, so the caller must check what has arrived.
  func wait(forHead: Bool) async {
    await withUnsafeContinuation { continuation in
      if !state.withLock({ $0.wait(continuation, forHead: forHead) }) { continuation.resume() }
    }
  }
}
