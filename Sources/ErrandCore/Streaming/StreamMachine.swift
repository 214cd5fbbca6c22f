import Foundation

/// The buffer between a transport that delivers a body and a loop that reads the body. It is a pure state machine;
/// ``StreamSink`` guards it with a lock.
struct StreamMachine {
  /// What the loop gets when it asks for the next piece.
  enum Step {
    case piece(Data)
    case end
    case failure(APIError)
    /// There is nothing to read yet.
    case wait
  }

  /// The number of bytes that may be buffered for the loop. If there are more, the transport is paused until at most
  /// half of this number is buffered.
  static let limit = 256 << 10

  private(set) var head: ResponseHead?
  private var pieces: [Data] = []
  private var taken = 0
  private(set) var held = 0
  private var flow: BodyFlow?
  private(set) var isPaused = false
  private var isOver = false
  private var failure: APIError?
  /// The loops that wait. Several loops may read one stream; each piece goes to one of them.
  private var waiters: [UnsafeContinuation<Void, Never>] = []

  // MARK: - The transport's side

  /// Stores the response headers. Returns the waiting loops, which the caller must resume.
  /// - Throws: ``BodyBegunTwice`` if another response has started before, because its bytes may already have been read.
  mutating func begin(
    _ head: ResponseHead, _ flow: BodyFlow
  ) throws(BodyBegunTwice) -> [UnsafeContinuation<Void, Never>] {
    guard self.head == nil else { throw BodyBegunTwice() }
    self.head = head
    self.flow = flow
    return takeWaiters()
  }

  /// Adds a piece that has arrived. Returns whether the transport may deliver more, and the waiting loops, which the
  /// caller must resume.
  mutating func put(_ piece: Data) -> (goesOn: Bool, waiters: [UnsafeContinuation<Void, Never>]) {
    pieces.append(piece)
    held += piece.count
    isPaused = held > Self.limit
    return (!isPaused, takeWaiters())
  }

  /// Records that the call has ended. If the transport delivered the body in memory, the body becomes one piece.
  /// Returns the waiting loops, which the caller must resume.
  mutating func finish(_ response: HTTPResponse?, _ error: APIError?) -> [UnsafeContinuation<Void, Never>] {
    isOver = true
    failure = error
    if error == nil, head == nil, let response {
      head = response.head
      if !response.body.isEmpty { pieces.append(response.body) }
    }
    // If the call was cancelled, the pieces that were not read are discarded.
    if error?.isCancelled == true { pieces = [] }
    return takeWaiters()
  }

  private mutating func takeWaiters() -> [UnsafeContinuation<Void, Never>] {
    defer { waiters = [] }
    return waiters
  }

  // MARK: - The loop's side

  /// The next step of the loop. If the transport was paused and must continue now, also the flow that the caller must
  /// resume.
  mutating func next() -> (step: Step, flow: BodyFlow?) {
    guard taken < pieces.count else {
      if let failure { return (.failure(failure), nil) }
      return (isOver ? .end : .wait, nil)
    }
    let piece = pieces[taken]
    pieces[taken] = Data()
    taken += 1
    forgetTaken()
    held -= piece.count
    guard isPaused, held <= Self.limit / 2 else { return (.piece(piece), nil) }
    isPaused = false
    return (.piece(piece), flow)
  }

  /// Removes pieces that were read from the array. It removes many at once, so that the average cost of a piece does
  /// not grow with the body, even if the loop never catches up with the server.
  private mutating func forgetTaken() {
    guard taken == pieces.count || taken >= 64 && taken * 2 >= pieces.count else { return }
    pieces.removeFirst(taken)
    taken = 0
  }

  /// The length of the array of pieces, which still contains some pieces that were read.
  var placeCount: Int { pieces.count }

  /// True if a waiting loop can continue. A wait with `forHead` ends when the response headers have arrived; another
  /// wait ends when a piece has arrived. Both end when the call has ended.
  func isReady(forHead: Bool) -> Bool { isOver || (forHead ? head != nil : taken < pieces.count) }

  /// Registers a loop that must wait. Returns false, without registering the loop, if the loop can continue at once.
  mutating func wait(_ continuation: UnsafeContinuation<Void, Never>, forHead: Bool) -> Bool {
    if isReady(forHead: forHead) { return false }
    waiters.append(continuation)
    return true
  }

  /// The number of waiting loops.
  var waiterCount: Int { waiters.count }

  /// The error of a call that failed before a response started; nil in all other cases.
  var failureBeforeHead: APIError? { head == nil ? failure : nil }
}

/// The error if a second response starts although bytes of the first response may have been read, for example because
/// an interceptor sent the request again.
package struct BodyBegunTwice: Error, CustomStringConvertible {
  package init() {}

  package var description: String {
    "a response body had started already, and a second one cannot replace it; let the interceptor return the"
      + " first response"
  }
}
