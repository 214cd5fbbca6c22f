import ErrandCore
import ErrandSupport
import ErrandTesting
import Foundation

@testable import ErrandURLSession

/// A task that records its calls.
final class FakeTask: SessionTask {
  private let calls = Locked<[String]>([])

  var seen: [String] { calls.withLock { $0 } }
  func resume() { calls.withLock { $0.append("resume") } }
  func suspend() { calls.withLock { $0.append("suspend") } }
  func cancel() { calls.withLock { $0.append("cancel") } }
}

/// An exchange with a fake task.
struct ExchangeRig {
  let task = FakeTask()
  let clock = ManualClock()
  let queues = SessionQueues()
  let run: SessionExchange

  init(_ exchange: Exchange) { run = SessionExchange(exchange, queues: queues, timers: clock) }

  init(
    _ method: HTTPMethod = .get, body: HTTPBody? = nil, limits: ResponseLimits = ResponseLimits(),
    idle: Duration? = nil, sink: (any BodySink)? = nil, call: CallState = CallState(), waits: Bool = false,
    onProgress: (@Sendable (TransferProgress) -> Void)? = nil
  ) throws {
    let request = try HTTPRequest(method: method, url: "http://h.example/", body: body)
    self.init(
      Exchange(
        request: request, call: call, idleTimeout: idle, limits: limits, sink: sink,
        network: NetworkWish(waitsForConnectivity: waits), onProgress: onProgress))
  }

  /// Performs the exchange; `play` runs on the serial queue in place of URLSession's callbacks.
  func outcome(_ play: @escaping @Sendable (SessionExchange) -> Void) async throws -> HTTPResponse {
    let (run, task, queues) = (run, task, queues)
    try await run.exchange.call.wait(asking: { run.stop($0) }) { wakeup in
      run.begin(wakeup) { task }
      // After the start of the task, on the serial queue.
      queues.runCall { queues.runCallback { play(run) } }
    }
    return try run.outcome()
  }

  /// Waits until both queues have performed their present jobs.
  func settle() async {
    await withCheckedContinuation { done in
      queues.runCallback { queues.runCall { queues.runCallback { queues.runCall { done.resume() } } } }
    }
  }
}
