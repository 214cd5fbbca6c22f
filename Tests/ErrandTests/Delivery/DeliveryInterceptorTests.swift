@testable import ErrandCore
import Errand
import ErrandTesting
import Foundation
import Testing
import TestSupport

/// App code in the pipeline: cancels reach it, losers end alone, and it cannot turn a stopped call into a success.
struct DeliveryInterceptorTests {
  /// An interceptor that calls a closure.
  private struct Around: Interceptor {
    let body: @Sendable (HTTPRequest, CallContext, Next) async throws -> HTTPResponse

    func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
      try await body(request, context, next)
    }
  }

  private func fixture(
    _ body: @escaping @Sendable (HTTPRequest, CallContext, Next) async throws -> HTTPResponse
  ) -> DeliveryFixture {
    let fixture = DeliveryFixture { $0.interceptors.calls = [Around(body: body)] }
    fixture.hook.open()
    return fixture
  }

  @Test func `loser of a race ends alone`() async throws {
    let slow = Latch()
    let states = Recorded<CallState>()
    var configuration = ClientConfiguration(baseURL: "http://h.example")
    configuration.transport = .own(
      ScriptedTransport { request in
        if request.fields["X-Lane"] == "slow" { try await slow.wait() }
        return .text(request.fields["X-Lane"] ?? "")
      })
    let clock = ManualClock()
    configuration.timers = clock
    configuration.interceptors.calls = [
      Around { request, context, next in
        states.append(context.call)
        return try await withThrowingTaskGroup(of: HTTPResponse.self) { group in
          for lane in ["slow", "fast"] {
            group.addTask {
              if lane == "fast" { await slow.reached() }
              var request = request
              request.fields["X-Lane"] = lane
              return try await next(request)
            }
          }
          defer { group.cancelAll() }
          guard let first = try await group.next() else { throw TransportFailure(.other, "no child responded") }
          return first
        }
      }
    ]
    let client = APIClient(configuration)
    #expect(try await client.send(WatchedRequest()) == "fast")
    #expect(await eventually { client.admission == (0, 0) }, "the loser released its slot")
    #expect(clock.pending == 0)
    #expect(states.all.map(\.openWaits) == [0])
  }

  @Test(arguments: [true, false]) func `stop reaches all child exchanges`(isExpiry: Bool) async {
    let fixture = fixture { request, _, next in
      try await withThrowingTaskGroup(of: HTTPResponse.self) { group in
        for _ in 0..<3 { group.addTask { try await next(request) } }
        guard let first = try await group.next() else { throw TransportFailure(.other, "no child responded") }
        return first
      }
    }
    let call = fixture.client.start(outcomeOf: fixture.request, on: .inPlace, options: fixture.options()) {
      fixture.events.append("told \($0.told)")
    }
    await fixture.exchange.reached(3)
    if isExpiry { fixture.clock.advance(by: .seconds(120)) } else { call.cancel() }
    await fixture.ended.waitStubbornly()
    #expect(fixture.events.all.contains(isExpiry ? "told deadline" : "told cancelled"))
    #expect(await fixture.leftovers().isEmpty)
  }

  @Test func `interceptor cannot undo a cancel`() async {
    let fixture = fixture { request, _, next in
      do {
        return try await next(request)
      } catch {
        return HTTPResponse(head: ResponseHead(status: 200), body: Data("mine".utf8), url: request.url)
      }
    }
    let call = fixture.client.start(outcomeOf: fixture.request, on: .inPlace, options: fixture.options()) {
      fixture.events.append("told \($0.told)")
    }
    await fixture.exchange.reached()
    call.cancel()
    await fixture.ended.waitStubbornly()
    #expect(fixture.events.all.contains("told cancelled"))
    #expect(await fixture.leftovers().isEmpty)
  }

  @Test func `interceptor may replace a failure`() async throws {
    let fixture = fixture { request, _, next in
      _ = try? await next(request)
      return HTTPResponse(head: ResponseHead(status: 200), body: Data("mine".utf8), url: request.url)
    }
    fixture.exchange.open()
    #expect(try await fixture.client.send(fixture.request) == "mine")
  }

  @Test func `cancel reaches waiting app code`() async {
    let parked = Latch()
    let fixture = fixture { request, _, next in
      try await parked.wait()
      return try await next(request)
    }
    for door in 0..<2 {
      let parkedBefore = parked.arrivals
      if door == 0 {
        let task = Task { try await fixture.client.send(fixture.request) }
        await parked.reached(parkedBefore + 1)
        fixture.client.cancel(tag: "none")
        fixture.client.cancelAll()
        #expect(await (task.result.failure as? APIError)?.stage == .cancelled)
      } else {
        let call = fixture.client.start(fixture.request, on: .inPlace, options: fixture.options()) { _ in }
        await parked.reached(parkedBefore + 1)
        call.cancel()
        await fixture.ended.waitStubbornly()
      }
    }
    #expect(await fixture.leftovers().isEmpty)
  }

  @Test func `app error has stage interceptor`() async {
    struct Refusal: Error {}
    let fixture = fixture { _, _, _ in throw Refusal() }
    let outcome = await fixture.client.outcome(of: fixture.request)
    #expect(outcome.error?.stage == .interceptor)
    #expect(outcome.error?.cause is Refusal)
  }

  @Test func `thrown CancellationError cancels the call`() async {
    let fixture = fixture { _, _, _ in throw CancellationError() }
    let call = fixture.client.start(outcomeOf: fixture.request, on: .inPlace, options: fixture.options()) {
      fixture.events.append("told \($0.told)")
    }
    await fixture.ended.waitStubbornly()
    #expect(fixture.events.all.contains("told cancelled"))
    #expect(call.isCancelled, "the handle agrees with the error")
    #expect(await fixture.leftovers().isEmpty)
  }

  @Test func `cancelled call runs no app code`() async {
    let ran = Recorded<Int>()
    let fixture = fixture { request, _, next in
      ran.append(1)
      return try await next(request)
    }
    let outcome = await Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return await fixture.client.outcome(of: fixture.request)
    }.value
    #expect(outcome.told == "cancelled")
    #expect(outcome.error?.attempts == 0)
    #expect(ran.all.isEmpty)
  }

  // MARK: - Transports

  /// Ignores the call's state but observes the cancellation of its task.
  private struct TaskOnly: Transport {
    let latch: Latch

    func send(_ exchange: Exchange) async throws -> HTTPResponse {
      try await latch.wait()
      return HTTPResponse(head: ResponseHead(status: 200), url: exchange.request.url)
    }
  }

  /// Observes neither a stop nor a cancellation.
  private struct Stubborn: Transport {
    let latch: Latch

    func send(_ exchange: Exchange) async throws -> HTTPResponse {
      await latch.waitStubbornly()
      return HTTPResponse(head: ResponseHead(status: 200), url: exchange.request.url)
    }
  }

  @Test(arguments: [true, false]) func `stop cancels the transport's task`(isExpiry: Bool) async {
    let latch = Latch()
    let fixture = DeliveryFixture { $0.transport = .own(TaskOnly(latch: latch)) }
    fixture.hook.open()
    let task = Task { await fixture.client.outcome(of: fixture.request) }
    await latch.reached()
    if isExpiry { fixture.clock.advance(by: .seconds(120)) } else { fixture.client.cancelAll() }
    #expect(await task.value.told == (isExpiry ? "deadline" : "cancelled"))
    #expect(await fixture.leftovers().isEmpty)
  }

  @Test func `call waits for an unresponsive transport`() async {
    let latch = Latch()
    let fixture = DeliveryFixture {
      $0.transport = .own(Stubborn(latch: latch))
      $0.overlap.joining = .never
    }
    fixture.hook.open()
    let task = Task { await fixture.client.outcome(of: fixture.request) }
    await latch.reached()
    #expect(fixture.client.cancelAll() == 1)
    #expect(fixture.client.running.count == 1)
    latch.open()
    #expect(await task.value.told == "cancelled")
    #expect(await fixture.leftovers().isEmpty)
  }
}

extension Result {
  var failure: Failure? { if case .failure(let error) = self { error } else { nil } }
}
