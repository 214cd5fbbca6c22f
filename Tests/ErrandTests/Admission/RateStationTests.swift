import Errand
@testable import ErrandCore
import ErrandTesting
import Testing
import TestSupport

/// Rate limits in the pipeline, with a manual clock.
struct RateStationTests {
  /// One request per second with a burst of two.
  private static let limits = AdmissionLimits(rates: [HostRate("h.example", requests: 1, burst: 2)])

  private func fixture(_ answer: ScriptedAnswer = .text(""), limits: AdmissionLimits = limits) -> AdmissionFixture {
    let fixture = AdmissionFixture(limits, answering: answer)
    fixture.latch.open()
    return fixture
  }

  private func busy(_ retryAfter: String, date: String? = nil) -> ScriptedAnswer {
    var fields: HTTPFields = ["Retry-After": retryAfter]
    if let date { fields.append(HTTPField(.date, date)) }
    return ScriptedAnswer(status: 429, fields: fields)
  }

  /// Starts a call that is admitted immediately.
  private func ask(_ name: String, _ fixture: AdmissionFixture) async {
    _ = await fixture.client.outcome(of: AdmissionFixture.Named(name: name))
  }

  /// Starts a call that must wait.
  private func wait(_ name: String, _ fixture: AdmissionFixture, total: TimeLimit = .never) async {
    let waiting = fixture.client.admission.waiting
    let options = CallOptions(timeouts: Timeouts(total: total))
    fixture.client.start(outcomeOf: AdmissionFixture.Named(name: name), on: .inPlace, options: options) {
      fixture.ended.append("\(name) \($0.told)")
    }
    #expect(await eventually { fixture.client.admission.waiting == waiting + 1 })
  }

  private func limited(_ value: String, _ rate: HostRate = .followingServer("h.example")) -> AdmissionFixture {
    fixture(
      .text("", fields: ["RateLimit": value]), limits: AdmissionLimits(rates: [rate]))
  }

  @Test func `server's limit delays calls before a refusal`() async {
    let fixture = limited("\"default\";r=0;t=30")
    await ask("a", fixture)
    await wait("b", fixture)
    fixture.clock.advance(by: .milliseconds(29_999))
    #expect(fixture.sent.all == ["a"])
    fixture.clock.advance(by: .milliseconds(1))
    #expect(await eventually { fixture.ended.all == ["b success"] })
    await fixture.finish()
  }

  @Test func `remaining requests are sent at once`() async {
    let fixture = limited("\"default\";r=2;t=30")
    for name in ["a", "b", "c"] { await ask(name, fixture) }
    #expect(fixture.sent.all == ["a", "b", "c"], "each response leaves two more")
    await fixture.finish()
  }

  @Test func `own rate ignores the server's limit`() async {
    let fixture = limited("\"default\";r=0;t=30", HostRate("h.example", requests: 10))
    for name in ["a", "b"] { await ask(name, fixture) }
    #expect(fixture.sent.all == ["a", "b"])
    await fixture.finish()
  }

  @Test func `burst is sent and rest is paced`() async {
    let fixture = fixture()
    for name in ["a", "b"] { await ask(name, fixture) }
    for name in ["c", "d", "e"] { await wait(name, fixture) }
    #expect(await eventually { fixture.clock.pending == 1 }, "one timer for all calls waiting at a host")
    fixture.clock.advance(by: .milliseconds(999))
    #expect(fixture.sent.count == 2)
    for (count, name) in [(1, "c"), (2, "d"), (3, "e")] {
      fixture.clock.advance(by: count == 1 ? .milliseconds(1) : .seconds(1))
      #expect(await eventually { fixture.ended.count == count })
      #expect(fixture.sent.all.last == name)
    }
    await fixture.finish()
    #expect(fixture.sent.all == ["a", "b", "c", "d", "e"])
  }

  @Test func `late timer admits several calls`() async {
    let fixture = fixture()
    for name in ["a", "b"] { await ask(name, fixture) }
    for name in ["c", "d", "e"] { await wait(name, fixture) }
    fixture.clock.advance(by: .seconds(2))
    #expect(await eventually { fixture.ended.count == 2 })
    #expect(fixture.client.admission.waiting == 1)
    fixture.clock.advance(by: .seconds(1))
    #expect(await eventually { fixture.ended.count == 3 })
    await fixture.finish()
  }

  @Test func `waiting call's deadline ends it first`() async {
    let fixture = fixture()
    for name in ["a", "b"] { await ask(name, fixture) }
    await wait("c", fixture, total: .milliseconds(500))
    #expect(await eventually { fixture.clock.pending == 2 }, "the deadline timer and the token timer")
    fixture.clock.advance(by: .milliseconds(500))
    #expect(await eventually { fixture.ended.all == ["c deadline"] })
    await fixture.finish()
    fixture.clock.advance(by: .milliseconds(500))
    await ask("d", fixture)
    #expect(fixture.sent.all == ["a", "b", "d"], "its token was not used")
  }

  @Test func `cancelled waiter returns its token`() async {
    let fixture = fixture()
    for name in ["a", "b"] { await ask(name, fixture) }
    await wait("c", fixture)
    await wait("d", fixture)
    fixture.client.running.first { "\($0.info.request)".contains("\"c\"") }?.cancel()
    #expect(await eventually { fixture.ended.all == ["c cancelled"] })
    fixture.clock.advance(by: .seconds(1))
    #expect(await eventually { fixture.ended.all == ["c cancelled", "d success"] })
    await fixture.finish()
  }

  /// Waits at a latch before the request is sent.
  private struct Waiting: Interceptor {
    let latch: Latch

    func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
      try await latch.wait()
      return try await next(request)
    }
  }

  @Test func `unsent call returns its token`() async {
    let latch = Latch()
    let fixture = AdmissionFixture(AdmissionLimits(rates: [HostRate("h.example", requests: 1)])) {
      $0.interceptors.exchanges = [Waiting(latch: latch)]
    }
    let call = await fixture.start("a")
    await latch.reached()
    call.cancel()
    #expect(await eventually { fixture.ended.all == ["a cancelled"] })
    latch.open()
    await fixture.start("b")
    #expect(await eventually { fixture.sent.all == ["b"] }, "no time has passed")
    await fixture.finish()
  }

  @Test func `other hosts are not delayed`() async {
    let fixture = fixture()
    for name in ["a", "b"] { await ask(name, fixture) }
    await wait("c", fixture)
    let other = await fixture.client.outcome(of: AdmissionFixture.Named(name: "x", host: "other.example"))
    #expect(other.error == nil)
    fixture.clock.advance(by: .seconds(1))
    await fixture.finish()
  }

  @Test func `removed rate admits waiting calls`() async {
    let fixture = fixture()
    for name in ["a", "b"] { await ask(name, fixture) }
    for name in ["c", "d"] { await wait(name, fixture) }
    fixture.client.configure { $0.admission.rates = [] }
    #expect(await eventually { fixture.ended.count == 2 })
    await fixture.finish()
  }

  @Test func `new rate delays waiting calls`() async {
    let fixture = AdmissionFixture(AdmissionLimits(perHost: 1))
    await fixture.start("a")
    await fixture.start("b")
    fixture.client.configure {
      $0.admission.rates = [HostRate("h.example", requests: 1, per: .seconds(60))]
    }
    await fixture.start("c")
    fixture.latch.open()
    #expect(await eventually { fixture.ended.count == 2 })
    #expect(fixture.client.admission == (0, 1))
    fixture.clock.advance(by: .seconds(60))
    #expect(await eventually { fixture.ended.count == 3 })
    await fixture.finish()
  }

  // MARK: - 429

  @Test(
    arguments: [
      ("30", nil, 30), ("Sun, 06 Nov 1994 10:00:30 GMT", "Sun, 06 Nov 1994 10:00:00 GMT", 30), ("7200", nil, 3_600),
      ("99999999999999999999", nil, 3_600),
    ] as [(String, String?, Int)])
  func `busy server gets no more requests`(retryAfter: String, date: String?, seconds: Int) async {
    let fixture = fixture(busy(retryAfter, date: date))
    await ask("a", fixture)
    await wait("b", fixture)
    fixture.clock.advance(by: .seconds(seconds))
    #expect(fixture.sent.all == ["a"])
    fixture.clock.advance(by: .milliseconds(999))
    #expect(fixture.sent.all == ["a"], "the bucket reopens empty")
    fixture.clock.advance(by: .milliseconds(1))
    #expect(await eventually { fixture.ended.all == ["b validate"] })
    await fixture.finish()
  }

  @Test(arguments: ["soon", "-5", "", "Sun, 06 Nov 1994 10:00:30 GMT"])
  func `invalid Retry-After changes nothing`(retryAfter: String) async {
    let fixture = fixture(busy(retryAfter))
    for name in ["a", "b"] { await ask(name, fixture) }
    #expect(fixture.sent.all == ["a", "b"])
    await fixture.finish()
  }

  @Test func `host without rate ignores Retry-After`() async {
    let fixture = fixture(busy("30"), limits: AdmissionLimits())
    for name in ["a", "b", "c"] { await ask(name, fixture) }
    #expect(fixture.sent.count == 3)
    await fixture.finish()
  }

  @Test func `only 429 changes the rate`() async {
    let fixture = fixture(ScriptedAnswer(status: 503, fields: ["Retry-After": "30"]))
    for name in ["a", "b"] { await ask(name, fixture) }
    #expect(fixture.sent.all == ["a", "b"])
    await fixture.finish()
  }

  @Test func `429 also delays calls already waiting`() async {
    let fixture = AdmissionFixture(
      AdmissionLimits(perHost: 1, rates: [HostRate("h.example", requests: 1, burst: 5)]), answering: busy("30"))
    await fixture.start("a")
    await fixture.start("b")
    fixture.latch.open()
    #expect(await eventually { fixture.ended.all == ["a validate"] })
    #expect(fixture.client.admission == (0, 1), "closing the host takes its token too")
    fixture.clock.advance(by: .seconds(31))
    #expect(await eventually { fixture.ended.count == 2 })
    await fixture.finish()
  }

  @Test func `tokens race with stops`() async {
    for _ in 0..<rounds {
      let fixture = fixture()
      for name in ["a", "b"] { await ask(name, fixture) }
      for name in ["c", "d", "e"] { await wait(name, fixture) }
      let calls = fixture.client.running
      await withTaskGroup(of: Void.self) { group in
        group.addTask { fixture.clock.advance(by: .seconds(1)) }
        for call in calls { group.addTask { call.cancel() } }
      }
      #expect(await eventually { fixture.ended.count == 3 })
      await fixture.finish()
      #expect(fixture.sent.count <= 3)
    }
  }
}
