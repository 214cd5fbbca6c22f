import ErrandSupport

/// One request on its way once or twice: the first answer wins. Each copy has a life and a record of its own and runs
/// in the client's own task; the call waits for the outcome and leaves when it is stopped.
final class HedgeRace: Sendable {
  private struct Copy: Sendable {
    let state: CallState
    let record: CallRecord
  }

  private struct Storage: Sendable {
    var copies: [Copy] = []
    var failure: Result<HTTPResponse, any Error>?
    var ended = 0
    var winner: Result<HTTPResponse, any Error>?
    var waiter: Wakeup?
  }

  private let storage = Locked(Storage())
  private let context: CallContext

  init(_ context: CallContext) { self.context = context }

  /// Sends a copy; nothing once there is an outcome.
  func begin(_ request: HTTPRequest, _ next: Next) {
    let copy = Copy(
      state: CallState(following: context.call, deadline: context.call.deadline), record: CallRecord())
    copy.record.goesOn(from: context.record)
    let isFirst: Bool? = storage.withLock { storage in
      if storage.winner != nil { return nil }
      storage.copies.append(copy)
      return storage.copies.count == 1
    }
    guard let isFirst else { return copy.state.settle() }
    let own = context.copied(copy.state, copy.record, tellsProgress: isFirst)
    Task {
      let came: Result<HTTPResponse, any Error>
      do { came = .success(try await next(request, in: own)) } catch { came = .failure(error) }
      copy.state.settle()
      end(came)
    }
  }

  /// When the first copy went to the transport; nil before that.
  var begun: MonotonicInstant? { storage.withLock { $0.copies.first?.record }?.begun }

  /// Whether the first copy waits for its turn.
  var waits: Bool { storage.withLock { $0.copies.first?.record }?.waits == true }

  /// A failure counts once no other copy is under way.
  private func end(_ came: Result<HTTPResponse, any Error>) {
    storage.withLock { storage -> Wakeup? in
      storage.ended += 1
      if came.isAnswer {
        storage.winner = storage.winner ?? came
      } else {
        storage.failure = storage.failure ?? came
        if storage.ended == storage.copies.count { storage.winner = storage.winner ?? storage.failure }
      }
      guard storage.winner != nil else { return nil }
      defer { storage.waiter = nil }
      return storage.waiter
    }?.resume()
  }

  /// The outcome; nil where there is none by the moment.
  func outcome(by moment: MonotonicInstant?) async throws -> Result<HTTPResponse, any Error>? {
    let timers = context.call.timers
    var token: TimerToken?
    defer { if let token { timers.cancel(token) } }
    do {
      try await context.call.wait { wakeup in
        if let moment { token = timers.schedule(at: moment) { wakeup.resume() } }
        let isOver = storage.withLock { storage in
          storage.waiter = wakeup
          return storage.winner != nil
        }
        if isOver { wakeup.resume() }
      }
    } catch {
      leave()
      throw error
    }
    return storage.withLock { $0.winner }
  }

  /// The race is over for the call: whoever still runs is stopped, and what was noted is the call's.
  func leave() {
    let now = context.call.timers.now
    for copy in storage.withLock({ $0.copies }) {
      copy.state.stop(context.call.reasonToLeave)
      context.record.take(copy.record, by: now)
    }
  }
}

extension Result<HTTPResponse, any Error> {
  /// Whether it is what was asked for, or a word of the server on it that a second copy would not change. That a server
  /// is asked too much, or has waited too long, is said of one copy.
  fileprivate var isAnswer: Bool {
    guard case .success(let response) = self else { return false }
    return response.status < 500 && response.status != 429 && response.status != 408
  }
}
