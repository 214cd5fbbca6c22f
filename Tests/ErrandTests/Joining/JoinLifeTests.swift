import Errand
@testable import ErrandCore
import ErrandTesting
import Foundation
import Testing
import TestSupport

/// Calls that share an exchange join, wait, leave and are answered independently.
struct JoinLifeTests {
  private typealias Told = Outcome<String>

  /// Calls that wait for one exchange, whose request has reached the server.
  private func calls(
    _ fixture: JoinFixture, _ count: Int, _ options: [CallOptions] = []
  ) async -> [Task<Told, Never>] {
    var calls: [Task<Told, Never>] = []
    for number in 0..<count {
      let options = number < options.count ? options[number] : CallOptions()
      calls.append(Task { await fixture.client.outcome(of: JoinText(), options: options) })
      #expect(await fixture.waiting(number + 1))
    }
    #expect(await fixture.exchange.reached())
    return calls
  }

  // MARK: - Leaving

  @Test(arguments: [0, 1, 2]) func `leaving call does not affect the others`(leaver: Int) async {
    let fixture = JoinFixture()
    let calls = await calls(fixture, 3)
    calls[leaver].cancel()
    #expect(await calls[leaver].value.told == "cancelled")
    #expect(fixture.exchanges == (1, 2))
    fixture.exchange.open()
    for (number, call) in calls.enumerated() where number != leaver { #expect(await call.value.value == "value") }
    #expect(fixture.asked == 1)
    #expect(await fixture.isIdle())
  }

  @Test func `last call to leave ends the exchange`() async {
    let fixture = JoinFixture()
    let calls = await calls(fixture, 3)
    for call in calls { call.cancel() }
    for call in calls { #expect(await call.value.told == "cancelled") }
    #expect(await fixture.isIdle(), "the exchange ends although its latch stays closed")
    #expect(fixture.asked == 1)
  }

  @Test func `leaving a shared POST closes nothing`() async {
    let fixture = JoinFixture()
    let post = JoinText(method: .post, joining: .always)
    var calls: [Task<Told, Never>] = []
    for number in 1...2 {
      calls.append(Task { await fixture.client.outcome(of: post) })
      #expect(await fixture.waiting(number))
    }
    calls[0].cancel()
    #expect(await calls[0].value.told == "cancelled")
    calls.append(Task { await fixture.client.outcome(of: post) })
    #expect(await eventually(turns: 20_000) { fixture.exchanges.waiting == 2 || fixture.asked == 2 })
    fixture.exchange.open()
    for call in calls.dropFirst() { #expect(await call.value.value == "value") }
    #expect(fixture.asked == 1)
    #expect(await fixture.isIdle())
  }

  @Test func `call after the last leave starts again`() async {
    let fixture = JoinFixture()
    let first = await calls(fixture, 1)
    await fixture.exchange.reached()
    first[0].cancel()
    #expect(await first[0].value.told == "cancelled")
    let second = Task { await fixture.client.outcome(of: JoinText()) }
    await fixture.exchange.reached(2)
    fixture.exchange.open()
    #expect(await second.value.value == "value")
    #expect(await fixture.isIdle())
  }

  @Test func `deadline ends only its own call`() async {
    let fixture = JoinFixture()
    let calls = await calls(fixture, 3, [.deadline(.seconds(300)), .deadline(.seconds(5)), .deadline(.seconds(200))])
    fixture.clock.advance(by: .seconds(5))
    #expect(await calls[1].value.told == "deadline")
    fixture.clock.advance(by: .seconds(200))
    #expect(await calls[2].value.told == "deadline")
    #expect(fixture.exchanges == (1, 1))
    fixture.exchange.open()
    #expect(await calls[0].value.value == "value")
    #expect(await fixture.isIdle())
  }

  @Test func `first call's deadline does not affect others`() async {
    let fixture = JoinFixture()
    let calls = await calls(fixture, 2, [.deadline(.seconds(5)), .deadline(.seconds(50))])
    fixture.clock.advance(by: .seconds(49))
    #expect(await calls[0].value.told == "deadline")
    fixture.exchange.open()
    #expect(await calls[1].value.value == "value")
  }

  @Test(arguments: [TimeLimit.never, .seconds(900)], 0..<3)
  func `shared exchange uses the remaining deadlines`(limit: TimeLimit, leaving: Int) async {
    let fixture = JoinFixture({ $0.retries = .standard }) { _ in .page("busy", ["Retry-After": "10"], status: 503) }
    let options = (0..<3).map { CallOptions.deadline($0 == leaving ? limit : .seconds(5)) }
    let calls = await calls(fixture, 3, options)
    calls[leaving].cancel()
    #expect(await calls[leaving].value.told == "cancelled")
    fixture.exchange.open()
    #expect(await fixture.isIdle(), "no call is left for which the exchange could be retried")
    fixture.clock.advance(by: .seconds(900))
    for other in calls.indices where other != leaving { #expect(await calls[other].value.error?.status == 503) }
    #expect(fixture.asked == 1)
  }

  @Test func `cancel methods reach waiting calls`() async {
    let fixture = JoinFixture()
    let owner = CallOwner()
    let calls = await calls(fixture, 3, [.owner(owner), .tag("feed")])
    #expect(fixture.client.cancel(owner: owner) == 1)
    #expect(await calls[0].value.told == "cancelled")
    #expect(fixture.client.cancel(tag: "feed") == 1)
    #expect(await calls[1].value.told == "cancelled")
    #expect(fixture.client.cancelAll() == 1)
    #expect(await calls[2].value.told == "cancelled")
    #expect(await fixture.isIdle())
  }

  // MARK: - The end

  @Test func `failure reaches all joined calls`() async {
    let fixture = JoinFixture(answer: { _ in throw TransportFailure(.reset, "it was reset") })
    let calls = await calls(fixture, 3)
    fixture.exchange.open()
    for call in calls {
      let outcome = await call.value
      #expect(outcome.error?.transportKind == .reset)
      #expect(outcome.error?.attempts == 1 && outcome.error?.request?.url.path == "/text")
    }
    #expect(fixture.asked == 1)
    #expect(await fixture.isIdle())
  }

  @Test func `each call validates the shared response`() async {
    let fixture = JoinFixture(answer: { _ in .text("gone", status: 410) })
    let strict = Task { await fixture.client.outcome(of: JoinText()) }
    #expect(await fixture.waiting(1))
    let lenient = Task { await fixture.client.outcome(of: JoinText(statusRule: .any)) }
    #expect(await fixture.waiting(2))
    fixture.exchange.open()
    #expect(await strict.value.error?.code == .status)
    #expect(await lenient.value.value == "gone")
    #expect(fixture.asked == 1)
  }

  @Test func `each call decodes the shared response`() async {
    let fixture = JoinFixture(answer: { _ in .json("17") })
    let text = Task { await fixture.client.outcome(of: JoinText(headers: ["Accept": "*/*"])) }
    #expect(await fixture.waiting(1))
    let number = Task { await fixture.client.outcome(of: JoinNumber()) }
    #expect(await fixture.waiting(2))
    fixture.exchange.open()
    #expect(await text.value.value == "17")
    #expect(await number.value.value == 17)
    #expect(fixture.asked == 1)
  }

  @Test func `metrics mark joined calls`() async {
    let fixture = JoinFixture()
    let calls = await calls(fixture, 2)
    fixture.exchange.open()
    let (first, second) = await (calls[0].value, calls[1].value)
    #expect(!first.metrics.isJoined && second.metrics.isJoined)
    #expect(first.metrics.attempts == 1 && second.metrics.attempts == 1)
    #expect(second.metrics.exchanges == first.metrics.exchanges && second.metrics.bytesReceived == 5)
    #expect(second.origin == .network)
    #expect(second.request?.url.string == "http://h.example/text")
  }

  @Test func `cache report says collapsed`() async {
    let fixture = JoinFixture()
    let page = JoinText(cache: .lifetime(.seconds(60)))
    let first = Task { await fixture.client.outcome(of: page) }
    #expect(await fixture.waiting(1))
    let second = Task { await fixture.client.outcome(of: page) }
    #expect(await fixture.waiting(2))
    fixture.exchange.open()
    #expect(await first.value.metrics.cache?.status == "Errand; fwd=miss; fwd-status=200; stored; detail=missing")
    let report = await second.value.metrics.cache
    #expect(report?.status == "Errand; fwd=miss; fwd-status=200; stored; collapsed; detail=missing")
    #expect(report?.reason.hasSuffix("This call shared the response of another call.") == true)
    #expect(fixture.client.cache?.statistics.stored == 1)
    let hit = await fixture.client.outcome(of: page)
    #expect(hit.origin == .cacheFresh && !hit.metrics.isJoined)
    #expect(fixture.asked == 1)
  }

  @Test func `redirect hops join separately`() async {
    let fixture = JoinFixture(answer: { request in
      request.url.path == "/old" ? .page("", ["Location": "/text"], status: 302) : .text("value")
    })
    let direct = Task { await fixture.client.outcome(of: JoinText()) }
    #expect(await fixture.waiting(1))
    let led = Task { await fixture.client.outcome(of: JoinText(path: "/old")) }
    #expect(await fixture.waiting(2))
    fixture.exchange.open()
    #expect(await direct.value.value == "value")
    let outcome = await led.value
    #expect(outcome.value == "value" && outcome.metrics.redirects == 1 && outcome.metrics.attempts == 2)
  }

  // MARK: - Writes

  @Test(arguments: [HTTPMethod.post, .put, .delete, "PURGE"], [true, false])
  func `write closes earlier exchanges`(method: HTTPMethod, succeeds: Bool) async {
    let fixture = JoinFixture(answer: { request in
      guard request.method == .get else { return .text("", status: succeeds ? 200 : 500) }
      return .text("value")
    })
    let before = Task { await fixture.client.outcome(of: JoinText()) }
    #expect(await fixture.waiting(1))
    let write = Task { await fixture.client.outcome(of: JoinText(path: "/other", method: method)) }
    await fixture.exchange.reached(2)
    let during = Task { await fixture.client.outcome(of: JoinText()) }
    #expect(await fixture.waiting(2), "before the write ends its effect is unknown")
    write.cancel()
    #expect(await write.value.told == "cancelled")
    let after = Task { await fixture.client.outcome(of: JoinText()) }
    await fixture.exchange.reached(3)
    #expect(fixture.exchanges == (2, 3))
    fixture.exchange.open()
    for call in [before, during, after] { #expect(await call.value.value == "value") }
    #expect(fixture.transport.requests.filter { $0.method == .get }.count == 2)
    #expect(await fixture.isIdle())
  }

  @Test func `write to another origin closes nothing`() async {
    let fixture = JoinFixture()
    let read = Task { await fixture.client.outcome(of: JoinText()) }
    #expect(await fixture.waiting(1))
    let write = Task { await fixture.client.outcome(of: JoinText(path: "http://x.example/", method: .post)) }
    await fixture.exchange.reached(2)
    write.cancel()
    #expect(await write.value.told == "cancelled")
    let other = Task { await fixture.client.outcome(of: JoinText()) }
    #expect(await fixture.waiting(2))
    fixture.exchange.open()
    #expect(await read.value.value == "value")
    #expect(await other.value.metrics.isJoined)
  }

  @Test func `cache removal closes earlier exchanges`() async {
    let fixture = JoinFixture()
    let page = JoinText(cache: .lifetime(.seconds(60)))
    let before = Task { await fixture.client.outcome(of: page) }
    #expect(await fixture.waiting(1))
    fixture.client.cache?.removeAll()
    let after = Task { await fixture.client.outcome(of: page) }
    await fixture.exchange.reached(2)
    fixture.exchange.open()
    for call in [before, after] { #expect(await call.value.value == "value") }
    #expect(fixture.client.cache?.statistics.stored == 1, "only the response requested after the removal is stored")
  }

  // MARK: - Priority

  @Test func `exchange has the highest priority`() async {
    let seen = Recorded<CallPriority>()
    struct Watch: Interceptor {
      let seen: Recorded<CallPriority>
      func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
        let call = context.call
        seen.append(call.priority)
        call.whenPriorityChanges { [seen] in seen.append($0) }
        defer { call.whenPriorityChanges(nil) }
        return try await next(request)
      }
    }
    let fixture = JoinFixture { $0.interceptors.exchanges = [Watch(seen: seen)] }
    let low = fixture.client.start(outcomeOf: JoinText(), on: .inPlace, options: CallOptions(priority: .low)) { _ in }
    await fixture.exchange.reached()
    let high = fixture.client.start(outcomeOf: JoinText(), on: .inPlace, options: CallOptions(priority: .high)) { _ in }
    #expect(await fixture.waiting(2))
    // The table counts a call that joins or leaves first, and notifies the exchange afterwards.
    #expect(await eventually { seen.all == [.low, .high] }, "\(seen.all)")
    high.cancel()
    #expect(await fixture.waiting(1))
    #expect(await eventually { seen.all == [.low, .high, .low] }, "\(seen.all)")
    low.change(priority: .normal)
    #expect(await eventually { seen.all == [.low, .high, .low, .normal] }, "\(seen.all)")
    fixture.exchange.open()
    #expect(await fixture.isIdle())
  }

  // MARK: - Progress

  /// Sends one progress report each time the next latch opens.
  private struct Chatty: Transport {
    let steps: [Latch]
    var capabilities: TransportCapabilities { .progress }
    func send(_ exchange: Exchange) async throws -> HTTPResponse {
      for (number, step) in steps.enumerated() {
        try await step.wait()
        exchange.onProgress?(TransferProgress(.download, bytes: Int64(number), total: nil))
      }
      return HTTPResponse(head: ResponseHead(status: 200), body: Data("value".utf8), url: exchange.request.url)
    }
  }

  @Test func `progress reaches the current members`() async {
    let steps = [Latch(), Latch(), Latch()]
    let fixture = JoinFixture { $0.transport = .own(Chatty(steps: steps)) }
    let told = (0..<3).map { _ in Recorded<Int64>() }
    let ended = (0..<3).map { _ in Latch() }
    func start(_ number: Int) -> Call {
      fixture.client.start(
        JoinText(), on: .inPlace, options: CallOptions(accessories: [Noter("call", Recorded(), ended: ended[number])])
      ) { _ in
      } onProgress: {
        told[number].append($0.bytes)
      }
    }
    _ = start(0)
    await steps[0].reached()
    let leaver = start(1)
    #expect(await fixture.waiting(2))
    steps[0].open()
    await steps[1].reached()
    leaver.cancel()
    await ended[1].waitStubbornly()
    _ = start(2)
    #expect(await fixture.waiting(2))
    steps[1].open()
    steps[2].open()
    for latch in ended { await latch.waitStubbornly() }
    #expect(told.map(\.all) == [[0, 1, 2], [0], [1, 2]])
    #expect(await fixture.isIdle())
  }

  // MARK: - Isolation of callers

  @MainActor @Test func `caller stays on the main actor`() async throws {
    let fixture = JoinFixture()
    let first = Task { @MainActor in
      let value = try await fixture.client.send(JoinText())
      MainActor.assertIsolated()
      return value
    }
    let second = Task { @MainActor in
      let value = try await fixture.client.send(JoinText())
      MainActor.assertIsolated()
      return value
    }
    #expect(await fixture.waiting(2))
    fixture.exchange.open()
    #expect(try await first.value == "value")
    #expect(try await second.value == "value")
    #expect(fixture.asked == 1)
  }

  @Test func `shared exchange leaks nothing`() async {
    let leaks = LeakCheck()
    do {
      let fixture = JoinFixture()
      leaks.watch(fixture.client, "client")
      leaks.watch(fixture.transport, "transport")
      let calls = await calls(fixture, 4)
      for state in fixture.client.registry.running.map(\.state) { leaks.watch(state, "state") }
      calls[0].cancel()
      calls[3].cancel()
      fixture.exchange.open()
      for call in calls { _ = await call.value }
      #expect(await fixture.isIdle())
    }
    #expect(await leaks.survivors(turns: 20_000).isEmpty)
  }
}

extension ScriptedAnswer {
  /// A text with fields.
  fileprivate static func page(_ text: String, _ fields: HTTPFields, status: Int = 200) -> ScriptedAnswer {
    var answer = ScriptedAnswer.text(text, status: status)
    for field in fields.all { answer.head.fields.replace(field) }
    return answer
  }
}
