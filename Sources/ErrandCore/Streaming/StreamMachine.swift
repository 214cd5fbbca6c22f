import Foundation

/// What stands between a transport that brings a body and a loop that reads it: pure, the lock is the sink's.
struct StreamMachine {
  /// What the loop does next.
  enum Step {
    case piece(Data)
    case end
    case failure(APIError)
    /// There is nothing yet.
    case wait
  }

  /// As many bytes may wait for the loop; behind them the server is slowed down until half of them are taken.
  static let limit = 256 << 10

  private(set) var head: ResponseHead?
  private var pieces: [Data] = []
  private var taken = 0
  private(set) var held = 0
  private var flow: BodyFlow?
  private(set) var isPaused = false
  private var isOver = false
  private var failure: APIError?
  /// Those who wait: several loops may read one stream, and each piece goes to one of them.
  private var waiters: [UnsafeContinuation<Void, Never>] = []

  // MARK: - The transport's side

  /// The answer begins. Returns who waits for it.
  /// - Throws: ``BodyBegunTwice`` where one began before: its bytes may have been read.
  mutating func begin(
    _ head: ResponseHead, _ flow: BodyFlow
  ) throws(BodyBegunTwice) -> [UnsafeContinuation<Void, Never>] {
    guard self.head == nil else { throw BodyBegunTwice() }
    self.head = head
    self.flow = flow
    return takeWaiters()
  }

  /// A piece has come. Returns whether more may come, and who waits.
  mutating func put(_ piece: Data) -> (goesOn: Bool, waiters: [UnsafeContinuation<Void, Never>]) {
    pieces.append(piece)
    held += piece.count
    isPaused = held > Self.limit
    return (!isPaused, takeWaiters())
  }

  /// The call has ended. What a transport gave in memory comes as one piece. Returns who waits.
  mutating func finish(_ response: HTTPResponse?, _ error: APIError?) -> [UnsafeContinuation<Void, Never>] {
    isOver = true
    failure = error
    if error == nil, head == nil, let response {
      head = response.head
      if !response.body.isEmpty { pieces.append(response.body) }
    }
    // Whoever cancels wants no more of it.
    if error?.isCancelled == true { pieces = [] }
    return takeWaiters()
  }

  private mutating func takeWaiters() -> [UnsafeContinuation<Void, Never>] {
    defer { waiters = [] }
    return waiters
  }

  // MARK: - The loop's side

  /// The next step, and what lets the body go on.
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

  /// Makes room again, at a cost that does not grow with the body: a loop may never catch up with the server.
  private mutating func forgetTaken() {
    guard taken == pieces.count || taken >= 64 && taken * 2 >= pieces.count else { return }
    pieces.removeFirst(taken)
    taken = 0
  }

  /// How many places the pieces take, those that were taken included.
  var placeCount: Int { pieces.count }

  /// Whether there is something to look at: a head for one who waits for that, else a piece or the end.
  func isReady(forHead: Bool) -> Bool { isOver || (forHead ? head != nil : taken < pieces.count) }

  /// Takes in whoever waits; false where there is something to look at already.
  mutating func wait(_ continuation: UnsafeContinuation<Void, Never>, forHead: Bool) -> Bool {
    if isReady(forHead: forHead) { return false }
    waiters.append(continuation)
    return true
  }

  /// How many wait.
  var waiterCount: Int { waiters.count }

  /// How the call failed before an answer; nil where it did not.
  var failureBeforeHead: APIError? { head == nil ? failure : nil }
}

/// A second answer came where the bytes of a first one may have gone already, such as by an interceptor that asks again.
package struct BodyBegunTwice: Error, CustomStringConvertible {
  package init() {}

  package var description: String {
    "a body had begun already, and another one cannot take its place; let the interceptor pass the first answer on"
  }
}
