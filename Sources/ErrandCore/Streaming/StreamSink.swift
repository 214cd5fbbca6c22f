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

/// The buffer between a transport that delivers a response body and a loop that reads the body. The type is a pure
/// state machine; ``StreamSink`` protects it by a lock.
struct StreamMachine {
  /// The answer to a loop that asks for the next piece of the response body.
  enum Step {
    case piece(Data)
    case end
    case failure(APIError)
    /// The loop must wait, because no piece is available yet.
    case wait
  }

  /// The limit on the number of bytes that have arrived and that no loop has read yet. If there are more bytes, the
  /// transport is paused until at most half of this number is left.
  static let limit = 256 << 10

  private(set) var head: ResponseHead?
  private var pieces: [Data] = []
  private var taken = 0
  private(set) var bufferedBytes = 0
  private var flow: BodyFlow?
  private(set) var isPaused = false
  private var isOver = false
  private var failure: APIError?
  /// The continuations of the loops that wait for response headers or for a piece. Several loops may read one stream;
  /// each piece goes to one of the loops.
  private var waiters: [UnsafeContinuation<Void, Never>] = []

  // MARK: - The transport's side

  /// Stores the response headers. Returns the continuations of the waiting loops, which the caller must resume.
  /// - Throws: ``BodyBegunTwice`` if another response has started before, because bytes of that response may already
  ///   have been read.
  mutating func begin(
    _ head: ResponseHead, _ flow: BodyFlow
  ) throws(BodyBegunTwice) -> [UnsafeContinuation<Void, Never>] {
    guard self.head == nil else { throw BodyBegunTwice() }
    self.head = head
    self.flow = flow
    return takeWaiters()
  }

  /// Adds a piece that has arrived. Returns whether the transport may deliver more, and the continuations of the
  /// waiting loops, which the caller must resume.
  mutating func put(_ piece: Data) -> (mayContinue: Bool, waiters: [UnsafeContinuation<Void, Never>]) {
    pieces.append(piece)
    bufferedBytes += piece.count
    isPaused = bufferedBytes > Self.limit
    return (!isPaused, takeWaiters())
  }

  /// Records that the call has ended. If the transport delivered the body in memory, the body becomes one piece.
  /// Returns the continuations of the waiting loops, which the caller must resume.
  mutating func finish(_ response: HTTPResponse?, _ error: APIError?) -> [UnsafeContinuation<Void, Never>] {
    isOver = true
    failure = error
    if error == nil, head == nil, let response {
      head = response.head
      if !response.body.isEmpty { pieces.append(response.body) }
    }
    // The loop of a cancelled call gets the error at once, so pieces that were not read are discarded.
    if error?.isCancelled == true { pieces = [] }
    return takeWaiters()
  }

  private mutating func takeWaiters() -> [UnsafeContinuation<Void, Never>] {
    defer { waiters = [] }
    return waiters
  }

  // MARK: - The loop's side

  /// Returns the next piece for the loop that reads the body. If there is no piece, the returned step says whether the
  /// loop must wait, the body has ended or the call has failed. If the transport was paused and must continue, also
  /// returns the ``BodyFlow`` that the caller must resume.
  mutating func next() -> (step: Step, flow: BodyFlow?) {
    guard taken < pieces.count else {
      if let failure { return (.failure(failure), nil) }
      return (isOver ? .end : .wait, nil)
    }
    let piece = pieces[taken]
    pieces[taken] = Data()
    taken += 1
    removeReadPieces()
    bufferedBytes -= piece.count
    guard isPaused, bufferedBytes <= Self.limit / 2 else { return (.piece(piece), nil) }
    isPaused = false
    return (.piece(piece), flow)
  }

  /// Removes pieces that the loop has already read from the front of the array. Many pieces are removed at once. So
  /// the average cost of a piece does not grow with the number of pieces, even if the loop is slower than the server.
  private mutating func removeReadPieces() {
    guard taken == pieces.count || taken >= 64 && taken * 2 >= pieces.count else { return }
    pieces.removeFirst(taken)
    taken = 0
  }

  /// The length of the array of pieces, including pieces that were read but not yet removed.
  var placeCount: Int { pieces.count }

  /// True if a waiting loop can continue. If `forHead` is true, the wait ends when the response headers have arrived;
  /// otherwise it ends when a piece has arrived. Every wait ends when the call has ended.
  func isReady(forHead: Bool) -> Bool { isOver || (forHead ? head != nil : taken < pieces.count) }

  /// Registers the continuation of a loop that must wait. Returns false, without registering the continuation, if the
  /// loop can continue at once.
  mutating func wait(_ continuation: UnsafeContinuation<Void, Never>, forHead: Bool) -> Bool {
    if isReady(forHead: forHead) { return false }
    waiters.append(continuation)
    return true
  }

  /// The number of loops that wait for response headers or for a piece of the body.
  var waiterCount: Int { waiters.count }

  var failureBeforeHead: APIError? { head == nil ? failure : nil }
}

/// The error if a second response starts although bytes of the first response may have been read, for example because
/// an interceptor sent the request again.
package struct BodyBegunTwice: Error, CustomStringConvertible {
  package init() {}

  package var description: String {
    "a second response started after the body of the first response had started;"
      + " let the interceptor return the first response"
  }
}
