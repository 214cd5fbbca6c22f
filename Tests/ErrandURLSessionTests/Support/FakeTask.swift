import ErrandCore
import ErrandSupport
import ErrandTesting
import Foundation

@testable import ErrandURLSession

/// A task that notes what is done with it.
final class FakeTask: SessionTask {
  private let calls = Locked<[String]>([])

  var seen: [String] { calls.withLock { $0 } }
  func resume() { calls.withLock { $0.append("resume") } }
  func suspend() { calls.withLock { $0.append("suspend") } }
  func cancel() { calls.withLock { $0.append("cancel") } }
}

/// An exchange over a task that tests play.
struct ExchangeRig {
  let task = FakeTask()
  let clock = ManualClock()
  let lanes = SessionLanes()
  let run: SessionExchange

  init(_ exchange: Exchange) { run = SessionExchange(exchange, lanes: lanes, timers: clock) }

  init(
    _ method: HTTPMethod = .get, body: HTTPBody? = nil, limits: ResponseLimits = ResponseLimits(),
    idle: Duration? = nil, sink: (any BodySink)? = nil, call: CallState = CallState(),
    onProgress: (@Sendable (TransferProgress) -> Void)? = nil
  ) throws {
    let request = try HTTPRequest(method: method, url: "http://h.example/", body: body)
    self.init(
      Exchange(
        request: request, call: call, idleTimeout: idle, limits: limits, sink: sink, onProgress: onProgress))
  }

  /// Carries the exchange out; `play` is given to the lane as what URLSession tells.
  func outcome(_ play: @escaping @Sendable (SessionExchange) -> Void) async throws -> HTTPResponse {
    let (run, task, lanes) = (run, task, lanes)
    try await run.exchange.call.wait(asking: { run.stop($0) }) { wakeup in
      run.begin(wakeup) { task }
      // Behind the beginning, on the lane.
      lanes.calling { lanes.telling { play(run) } }
    }
    return try run.outcome()
  }

  /// Waits until both lanes have done what was put on them so far.
  func settle() async {
    await withCheckedContinuation { done in
      lanes.telling { lanes.calling { lanes.telling { lanes.calling { done.resume() } } } }
    }
  }
}
