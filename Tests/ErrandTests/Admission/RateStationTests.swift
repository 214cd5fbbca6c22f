import Errand
@testable import ErrandCore
import ErrandTesting
import Testing
import TestSupport

/// Rates in the line, on a clock that is turned by hand.
@Suite(.timeLimit(.minutes(2))) struct RateStationTests {
  /// One request each second, two at once.
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

  /// Starts a call that is answered.
  private func ask(_ name: String, _ fixture: AdmissionFixture) async {
    _ = await fixture.client.outcome(of: AdmissionFixture.Named(name: name))
  }

  /// Starts a call that has to wait.
  private func wait(_ name: String, _ fixture: AdmissionFixture, total: TimeLimit = .never) async {
    let waiting = fixture.client.admission.waiting
    let options = CallOptions(timeouts: Timeouts(total: total))
    fixture.client.start(outcomeOf: AdmissionFixture.Named(name: name), on: .inPlace, options: options) {
      fixture.ended.append("\(name) \($0.told)")
    }
    #expect(await eventually { fixture.client.admission.waiting == waiting + 1 })
  }

  @Test func `burst goes and the rest is paced`() async {
    let fixture = fixture()
    for name in ["a", "b"] { await ask(name, fixture) }
    for name in ["c", "d", "e"] { await wait(name, fixture) }
    #expect(await eventually { fixture.clock.pending == 1 }, "one timer for all that wait at a host")
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

  @Test func `late timer lets several in`() async {
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

  @Test func `waiter's deadline comes first`() async {
    let fixture = fixture()
    for name in ["a", "b"] { await ask(name, fixture) }
    await wait("c", fixture, total: .milliseconds(500))
    #expect(await eventually { fixture.clock.pending == 2 }, "the deadline and the token")
    fixture.clock.advance(by: .milliseconds(500))
    #expect(await eventually { fixture.ended.all == ["c deadline"] })
    await fixture.finish()
    fixture.clock.advance(by: .milliseconds(500))
    await ask("d", fixture)
    #expect(fixture.sent.all == ["a", "b", "d"], "its token was not used up")
  }

  @Test func `cancelled waiter leaves its token`() async {
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

  @Test func `other hosts are not held back`() async {
    let fixture = fixture()
    for name in ["a", "b"] { await ask(name, fixture) }
    await wait("c", fixture)
    let other = await fixture.client.outcome(of: AdmissionFixture.Named(name: "x", host: "other.example"))
    #expect(other.error == nil)
    fixture.clock.advance(by: .seconds(1))
    await fixture.finish()
  }

  @Test func `lifted rate lets waiters go`() async {
    let fixture = fixture()
    for name in ["a", "b"] { await ask(name, fixture) }
    for name in ["c", "d"] { await wait(name, fixture) }
    fixture.client.configure { $0.admission.rates = [] }
    #expect(await eventually { fixture.ended.count == 2 })
    await fixture.finish()
  }

  @Test func `set rate holds waiters back`() async {
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
  func `busy server is left alone`(retryAfter: String, date: String?, seconds: Int) async {
    let fixture = fixture(busy(retryAfter, date: date))
    await ask("a", fixture)
    await wait("b", fixture)
    fixture.clock.advance(by: .seconds(seconds))
    #expect(fixture.sent.all == ["a"])
    fixture.clock.advance(by: .milliseconds(999))
    #expect(fixture.sent.all == ["a"], "the bucket is empty then")
    fixture.clock.advance(by: .milliseconds(1))
    #expect(await eventually { fixture.ended.all == ["b validate"] })
    await fixture.finish()
  }

  @Test(arguments: ["soon", "-5", "", "Sun, 06 Nov 1994 10:00:30 GMT"])
  func `garbage and the past teach nothing`(retryAfter: String) async {
    let fixture = fixture(busy(retryAfter))
    for name in ["a", "b"] { await ask(name, fixture) }
    #expect(fixture.sent.all == ["a", "b"])
    await fixture.finish()
  }

  @Test func `without a rate nothing is learnt`() async {
    let fixture = fixture(busy("30"), limits: AdmissionLimits())
    for name in ["a", "b", "c"] { await ask(name, fixture) }
    #expect(fixture.sent.count == 3)
    await fixture.finish()
  }

  @Test func `other answers teach nothing`() async {
    let fixture = fixture(ScriptedAnswer(status: 503, fields: ["Retry-After": "30"]))
    for name in ["a", "b"] { await ask(name, fixture) }
    #expect(fixture.sent.all == ["a", "b"])
    await fixture.finish()
  }

  @Test func `those who wait already hear of it`() async {
    let fixture = AdmissionFixture(
      AdmissionLimits(perHost: 1, rates: [HostRate("h.example", requests: 1, burst: 5)]), answering: busy("30"))
    await fixture.start("a")
    await fixture.start("b")
    fixture.latch.open()
    #expect(await eventually { fixture.ended.all == ["a validate"] })
    #expect(fixture.client.admission == (0, 1), "its token is gone with the others")
    fixture.clock.advance(by: .seconds(31))
    #expect(await eventually { fixture.ended.count == 2 })
    await fixture.finish()
  }

  @Test func `tokens and stops race`() async {
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
