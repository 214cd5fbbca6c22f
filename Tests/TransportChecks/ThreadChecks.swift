package import Dispatch
package import ErrandCore
import ErrandTesting
import Foundation
import Testing

/// Checks of transports that have a thread of their own: its timers, its end, and calls that are stopped.
package enum ThreadChecks {
  /// The thread runs its timers in the order of their times, and no timer that was cancelled.
  package static func timersRunInOrder(of transport: any Transport) async throws {
    let timers = try #require(transport.timers)
    let order = Recorded<Int>()
    let start = timers.now
    let hold = DispatchSemaphore(value: 0)
    _ = timers.schedule(at: start.advanced(by: .seconds(-1))) { hold.wait() }
    let late = timers.schedule(at: start.advanced(by: .milliseconds(40))) { order.append(9) }
    _ = timers.schedule(at: start.advanced(by: .milliseconds(30))) { order.append(2) }
    _ = timers.schedule(at: start) { order.append(1) }
    timers.cancel(late)
    hold.signal()
    await withCheckedContinuation { continuation in
      _ = timers.schedule(at: start.advanced(by: .milliseconds(60))) { continuation.resume() }
    }
    #expect(order.all == [1, 2])
    #expect(start.duration(to: timers.now) >= .milliseconds(60))
  }

  /// Blocks the thread of timers until `unblocks` is signalled. Returns when the thread is blocked.
  package static func block(_ timers: any Timers, until unblocks: DispatchSemaphore) async {
    await withCheckedContinuation { continuation in
      _ = timers.schedule(at: timers.now) {
        continuation.resume()
        unblocks.wait()
      }
    }
  }

  /// A running exchange keeps its transport, which closes its connections afterwards.
  package static func exchangeKeepsTransport(_ make: @escaping @Sendable () -> any Transport) async throws {
    let gate = Gate()
    let server = try LoopbackServer { _ in .ok("late").held(at: gate) }
    let exchange = Exchange(request: try HTTPRequest(url: server.url))
    async let response = make().send(exchange)
    try await gate.reached()
    gate.open()
    #expect(try await response.text == "late")
    try await server.wait { $0.openConnectionCount == 0 }
  }

  /// A thousand exchanges are stopped or reach their deadlines at many different moments. Afterwards the transport
  /// still works.
  /// - Parameter content: Returns the body of the request with a number; nil for a GET request.
  package static func survivesStops(
    _ transport: any Transport, content: @escaping @Sendable (Int) -> HTTPBody? = { _ in nil }
  ) async throws {
    let server = try LoopbackServer { request in
      switch (Int(request.path.dropFirst()) ?? 0) % 5 {
      case 0: .ok("whole")
      case 1: .stall()
      case 2: .ok(String(repeating: "x", count: 500)).dripped(every: .milliseconds(1))
      case 3: .generated(count: 100_000)
      default: .chunked(["a", "b"]).cut(after: 4)
      }
    }
    let timers = try #require(transport.timers)
    try await withThrowingTaskGroup { group in
      for worker in 0..<32 {
        group.addTask {
          for round in 0..<32 {
            let number = worker &* 31 &+ round
            let body = content(number)
            let url = server.url + "/\(number)"
            let request = try HTTPRequest(method: body == nil ? .get : .post, url: url, body: body)
            try await Self.stopSomewhere(number, request, transport, timers)
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try await TransportConformance.get(transport, server.url + "/0").text == "whole")
  }

  /// Sends a request that is stopped or reaches its deadline after a delay that depends on `number`.
  private static func stopSomewhere(
    _ number: Int, _ request: HTTPRequest, _ transport: any Transport, _ timers: any Timers
  ) async throws {
    let end = timers.now.advanced(by: .microseconds(number &* 7919 % 9000))
    let isDeadline = number.isMultiple(of: 2)
    let call = CallState(deadline: isDeadline ? end : nil, timers: timers)
    if !isDeadline { _ = timers.schedule(at: end) { call.stop(.cancelled) } }
    do {
      let response = try await transport.send(Exchange(request: request, call: call))
      #expect(number % 5 != 1 && number % 5 != 4)
      #expect(response.status == 200)
    } catch let stopped as CallState.Stopped {
      #expect(stopped.reason == (isDeadline ? .expired : .cancelled))
    } catch let failure as TransportFailure {
      #expect(number % 5 == 4)
      #expect(failure.kind == .truncated)
    }
    #expect(call.openWaits == 0)
  }
}
