import Errand
@testable import ErrandCore
import ErrandTesting
import Testing
import TestSupport

/// A call that starts while another call of the same type runs.
struct RepeatTests {
  /// Another request type with the same rule.
  private struct Other: APIRequest {
    typealias Response = String
    var overlap: Overlap { Overlap(repeats: .ignoreNew) }
    var path: Path { "/other" }
  }

  private func start(
    _ fixture: JoinFixture, _ text: String, _ rule: RepeatRule, _ told: Recorded<String>, owner: CallOwner? = nil
  ) -> Call {
    let events = Recorded<String>()
    let options = CallOptions(owner: owner, accessories: [Noter("call", events)])
    return fixture.client.start(outcomeOf: RepeatedSearch(text: text, repeats: rule), on: .inPlace, options: options) {
      told.append("\(text) \($0.told)")
      #expect(events.all.filter { $0 != "progress call" } == ["willStart call", "willStop call \($0.told)"])
    }
  }

  @Test func `run all lets every call run`() async {
    let (fixture, told) = (JoinFixture(), Recorded<String>())
    for text in ["a", "b", "c"] { _ = start(fixture, text, .runAll, told) }
    await fixture.exchange.reached(3)
    #expect(fixture.client.registry.repeats.count == 0)
    fixture.exchange.open()
    #expect(await fixture.isIdle())
    #expect(Set(told.all) == ["a success", "b success", "c success"])
  }

  @Test func `refused call replaces no other call`() async {
    let (fixture, told) = (JoinFixture(), Recorded<String>())
    let first = start(fixture, "a", .cancelPrevious, told)
    await fixture.exchange.reached()
    let error = await UserCodeScope.during(Self.self, in: UserCodeScope.limit) {
      await fixture.client.outcome(of: RepeatedSearch(text: "b", repeats: .cancelPrevious)).error
    }
    #expect(error?.stage == .interceptor && error?.message.contains("nested 8 deep") == true)
    #expect(!first.isCancelled && fixture.client.registry.repeats.count == 1)
    fixture.exchange.open()
    #expect(await fixture.isIdle())
    #expect(told.all == ["a success"])
  }

  @Test func `newer call cancels the previous one`() async {
    let (fixture, told) = (JoinFixture(), Recorded<String>())
    let first = start(fixture, "a", .cancelPrevious, told)
    await fixture.exchange.reached()
    _ = start(fixture, "b", .cancelPrevious, told)
    await fixture.exchange.reached(2)
    #expect(first.isCancelled)
    #expect(await eventually { told.all == ["a cancelled"] })
    fixture.exchange.open()
    #expect(await fixture.isIdle())
    #expect(told.all == ["a cancelled", "b success"])
    #expect(fixture.client.registry.repeats.count == 0)
  }

  @Test func `cancelled call names its successor`() async {
    let fixture = JoinFixture()
    let first = Task { await fixture.client.outcome(of: RepeatedSearch(text: "a", repeats: .cancelPrevious)) }
    await fixture.exchange.reached()
    let second = Task { await fixture.client.outcome(of: RepeatedSearch(text: "b", repeats: .cancelPrevious)) }
    let error = await first.value.error
    #expect(error?.stage == .cancelled && error?.code == .cancelled)
    #expect(
      error?.message.hasSuffix("Search replaced it, as the rule `repeats` demands.") == true,
      "\(error?.message ?? "none")")
    second.cancel()
    #expect(await second.value.error?.message == "The call was cancelled.")
  }

  @Test func `new call is refused immediately`() async {
    let (fixture, told) = (JoinFixture(), Recorded<String>())
    _ = start(fixture, "a", .ignoreNew, told)
    await fixture.exchange.reached()
    let error = await fixture.client.outcome(of: RepeatedSearch(text: "b", repeats: .ignoreNew)).error
    #expect(error?.stage == .admission && error?.code == .repeated)
    #expect(error?.request == nil, "the call is refused before its request is built")
    #expect(error?.message.hasPrefix("The call was not started, because #") == true)
    fixture.exchange.open()
    #expect(await fixture.isIdle())
    #expect(told.all == ["a success"])
    #expect(fixture.asked == 1)
    #expect(await fixture.client.outcome(of: RepeatedSearch(text: "c", repeats: .ignoreNew)).value == "value")
  }

  @Test func `cancelled call does not block a new call`() async {
    let (fixture, told) = (JoinFixture(), Recorded<String>())
    start(fixture, "a", .ignoreNew, told).cancel()
    _ = start(fixture, "b", .ignoreNew, told)
    fixture.exchange.open()
    #expect(await fixture.isIdle())
    #expect(Set(told.all) == ["a cancelled", "b success"])
  }

  @Test func `callback may start the next call`() async {
    let fixture = JoinFixture()
    let told = Recorded<String>()
    let client = fixture.client
    client.start(outcomeOf: RepeatedSearch(text: "a", repeats: .ignoreNew), on: .inPlace) { outcome in
      told.append("a \(outcome.told)")
      client.start(outcomeOf: RepeatedSearch(text: "b", repeats: .ignoreNew), on: .inPlace) {
        told.append("b \($0.told)")
      }
    }
    fixture.exchange.open()
    #expect(await eventually { told.count == 2 })
    #expect(told.all == ["a success", "b success"])
    #expect(await fixture.isIdle())
  }

  @Test func `types, owners and clients are independent`() async {
    let (fixture, second, told) = (JoinFixture(), JoinFixture(), Recorded<String>())
    let owners = [CallOwner(), CallOwner()]
    _ = start(fixture, "nobody", .ignoreNew, told)
    for (number, owner) in owners.enumerated() { _ = start(fixture, "owned \(number)", .ignoreNew, told, owner: owner) }
    _ = start(second, "elsewhere", .ignoreNew, told)
    let other = Task { await fixture.client.outcome(of: Other()) }
    await fixture.exchange.reached(4)
    _ = start(fixture, "again", .ignoreNew, told, owner: owners[0])
    #expect(await eventually { told.all == ["again admission"] })
    for fixture in [fixture, second] { fixture.exchange.open() }
    #expect(await other.value.error == nil)
    #expect(await fixture.isIdle())
    #expect(await second.isIdle())
    #expect(told.count == 5)
    withExtendedLifetime(owners) {}
  }

  @Test func `debounce sends the last call`() async {
    let (fixture, told) = (JoinFixture(), Recorded<String>())
    fixture.exchange.open()
    for text in ["a", "ab", "abc"] {
      _ = start(fixture, text, .debounce(.milliseconds(300)), told)
      #expect(await eventually { fixture.clock.pending == 2 }, "the debounce timer and the deadline timer")
      fixture.clock.advance(by: .milliseconds(299))
    }
    #expect(fixture.asked == 0)
    #expect(await eventually { Set(told.all) == ["a cancelled", "ab cancelled"] }, "in either order")
    fixture.clock.advance(by: .milliseconds(1))
    #expect(await fixture.isIdle())
    #expect(told.all.last == "abc success")
    #expect(fixture.transport.requests.map(\.url.query) == ["q=abc"])
  }

  @Test func `debounced call cancels a sent one`() async {
    let (fixture, told) = (JoinFixture(), Recorded<String>())
    let rule = RepeatRule.debounce(.milliseconds(100))
    let first = start(fixture, "ad", rule, told)
    #expect(await eventually { fixture.clock.pending == 2 })
    fixture.clock.advance(by: .milliseconds(100))
    await fixture.exchange.reached()
    fixture.clock.advance(by: .milliseconds(150))
    _ = start(fixture, "ada", rule, told)
    #expect(first.isCancelled, "when the newer call is started")
    #expect(await eventually { told.all == ["ad cancelled"] }, "before the pause of the newer call is over")
    #expect(await eventually { fixture.clock.pending == 2 })
    #expect(fixture.asked == 1)
    fixture.clock.advance(by: .milliseconds(100))
    await fixture.exchange.reached(2)
    fixture.exchange.open()
    #expect(await fixture.isIdle())
    #expect(told.all == ["ad cancelled", "ada success"])
    #expect(fixture.transport.requests.map(\.url.query) == ["q=ad", "q=ada"])
    #expect(fixture.client.registry.repeats.count == 0)
  }

  @Test func `debounce names the newer call`() async {
    let fixture = JoinFixture()
    let rule = RepeatRule.debounce(.milliseconds(100))
    let first = Task { await fixture.client.outcome(of: RepeatedSearch(text: "ad", repeats: rule)) }
    #expect(await eventually { fixture.clock.pending == 2 })
    fixture.clock.advance(by: .milliseconds(100))
    await fixture.exchange.reached()
    let second = Task { await fixture.client.outcome(of: RepeatedSearch(text: "ada", repeats: rule)) }
    let error = await first.value.error
    #expect(error?.stage == .cancelled && error?.code == .cancelled)
    #expect(
      error?.message.hasSuffix("Search replaced it, as the rule `repeats` demands.") == true,
      "\(error?.message ?? "none")")
    second.cancel()
    #expect(await second.value.told == "cancelled")
  }

  @Test func `debounce pause counts against the deadline`() async {
    let fixture = JoinFixture()
    let call = Task {
      await fixture.client.outcome(
        of: RepeatedSearch(text: "a", repeats: .debounce(.seconds(9))), options: .deadline(.seconds(5)))
    }
    #expect(await eventually { fixture.clock.pending == 2 })
    fixture.clock.advance(by: .seconds(5))
    #expect(await call.value.told == "deadline")
    #expect(await fixture.isIdle())
    #expect(fixture.client.registry.repeats.count == 0)
  }

  @Test func `cancel ends the debounce pause`() async {
    let fixture = JoinFixture()
    let call = Task { await fixture.client.outcome(of: RepeatedSearch(text: "a", repeats: .debounce(.seconds(9)))) }
    #expect(await eventually { fixture.clock.pending == 2 })
    call.cancel()
    let error = await call.value.error
    #expect(error?.message == "The call was cancelled.")
    #expect(await fixture.isIdle())
  }

  @Test(arguments: [RepeatRule.cancelPrevious, .ignoreNew, .debounce(.zero)])
  func `concurrent starts obey the rule`(rule: RepeatRule) async {
    let fixture = JoinFixture { $0.overlap.joining = .never }
    fixture.exchange.open()
    for _ in 0..<rounds {
      let told = await withTaskGroup(of: String.self) { group in
        for number in 0..<6 {
          group.addTask { await fixture.client.outcome(of: RepeatedSearch(text: "\(number)", repeats: rule)).told }
        }
        return await group.reduce(into: []) { $0.append($1) }
      }
      #expect(told.count == 6 && told.contains("success"))
      #expect(Set(told).isSubset(of: ["success", rule == .ignoreNew ? "admission" : "cancelled"]))
      #expect(fixture.client.registry.repeats.count == 0)
    }
    #expect(await fixture.isIdle())
  }
}
