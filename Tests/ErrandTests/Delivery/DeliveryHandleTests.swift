@testable import ErrandCore
import Dispatch
import Errand
import ErrandTesting
import Testing
import TestSupport

/// Handles, the list of running calls, owners, weak delegates and threads.
struct DeliveryHandleTests {
  @MainActor @Test func `handle reports the state of its call`() async {
    let fixture = DeliveryFixture()
    fixture.hook.open()
    let inside = Recorded<Bool>()
    var call: Call?
    call = fixture.client.start(outcomeOf: fixture.request, options: fixture.options()) { _ in
      inside.append(call?.isExecuting ?? true)
      inside.append(fixture.client.running.isEmpty)
    }
    #expect(call?.isExecuting == true)
    #expect(call?.isCancelled == false)
    #expect(fixture.client.running.map(\.id) == [call?.id])
    #expect(fixture.client.running.first?.info.tag == "tagged")
    await fixture.exchange.reached()
    #expect(fixture.client.admission == (1, 0))
    fixture.exchange.open()
    await fixture.ended.waitStubbornly()
    #expect(inside.all == [false, true], "the call's own closure sees it as ended")
    #expect(call?.isExecuting == false)
    #expect(call?.isCancelled == false)
    call?.cancel()
    #expect(call?.isCancelled == false, "a cancel after the end changes nothing")
    call = nil
    #expect(await fixture.leftovers().isEmpty)
  }

  @Test func `log line precedes the callback`() async {
    let order = Recorded<String>()
    let fixture = DeliveryFixture {
      $0.log = { line in if line.text.hasPrefix("done in") { order.append("log") } }
    }
    fixture.hook.open()
    fixture.exchange.open()
    fixture.client.start(outcomeOf: fixture.request, on: .inPlace, options: fixture.options()) { _ in
      order.append("callback")
    }
    await fixture.ended.waitStubbornly()
    #expect(order.all == ["log", "callback"])
  }

  @MainActor @Test func `cancelled call executes until its delivery`() async {
    let fixture = DeliveryFixture()
    fixture.hook.open()
    let call = fixture.client.start(fixture.request, options: fixture.options()) { _ in }
    await fixture.exchange.reached()
    call.cancel()
    #expect(call.isCancelled)
    #expect(call.isExecuting)
    await fixture.ended.waitStubbornly()
    #expect(call.isCancelled)
    #expect(!call.isExecuting)
  }

  @MainActor @Test func `expired call is not cancelled`() async {
    let fixture = DeliveryFixture()
    fixture.hook.open()
    let call = fixture.client.start(fixture.request, options: fixture.options()) { _ in }
    await fixture.exchange.reached()
    fixture.clock.advance(by: .seconds(120))
    await fixture.ended.waitStubbornly()
    #expect(!call.isCancelled)
    #expect(await fixture.leftovers().isEmpty)
  }

  @MainActor @Test func `cancel methods count their calls`() async {
    let fixture = DeliveryFixture { $0.overlap.joining = .never }
    fixture.hook.open()
    let owner = CallOwner()
    for index in 0..<6 {
      let options = CallOptions(owner: index < 3 ? owner : nil, tag: index.isMultiple(of: 2) ? "\u{e9}ven" : nil)
      fixture.client.start(fixture.request, options: options) { _ in }
    }
    await fixture.exchange.reached(6)
    #expect(fixture.client.cancel(tag: "odd") == 0)
    #expect(fixture.client.cancel(tag: "e\u{301}ven") == 0, "tags are compared by bytes")
    #expect(fixture.client.cancel(owner: owner) == 3)
    #expect(fixture.client.cancel(tag: "\u{e9}ven") == 1)
    #expect(fixture.client.cancelAll() == 2)
    #expect(fixture.client.cancelAll() == 0)
    #expect(await fixture.leftovers().isEmpty)
  }

  // MARK: - Owners

  @MainActor @Test func `owner may span two clients`() async {
    let (first, second) = (DeliveryFixture { $0.overlap.joining = .never }, DeliveryFixture())
    for fixture in [first, second] { fixture.hook.open() }
    var owner: CallOwner? = CallOwner()
    for fixture in [first, second, first] {
      fixture.client.start(fixture.request, options: fixture.options(owner: owner)) { _ in }
    }
    let stranger = first.client.start(first.request) { _ in }
    await first.exchange.reached(3)
    await second.exchange.reached(1)
    owner = nil
    for fixture in [first, second] { await fixture.ended.waitStubbornly() }
    #expect(await eventually { first.client.running.map(\.id) == [stranger.id] })
    #expect(second.events.all.contains("told cancelled") == false)
    stranger.cancel()
    #expect(await first.leftovers().isEmpty)
    #expect(await second.leftovers().isEmpty)
  }

  @MainActor @Test func `owner released before start cancels`() async {
    let fixture = DeliveryFixture()
    fixture.hook.open()
    let options = fixture.options(owner: CallOwner())
    #expect(options.owner == nil, "options do not keep their owner alive")
    let messages = Recorded<String?>()
    fixture.client.start(outcomeOf: fixture.request, options: options) {
      messages.append($0.error?.message)
      fixture.events.append("told \($0.told)")
    }
    await fixture.ended.waitStubbornly()
    #expect(fixture.events.all.contains("told cancelled"))
    let hint = "The call was cancelled, and its `CallOwner` no longer exists; calls end with their owner"
    #expect(messages.all.map { $0?.hasPrefix(hint) } == [true])
  }

  @MainActor @Test func `owner may cancel repeatedly`() async {
    let fixture = DeliveryFixture()
    fixture.hook.open()
    let owner = CallOwner()
    for _ in 0..<3 {
      let call = fixture.client.start(fixture.request, options: .owner(owner)) { _ in }
      owner.cancelAll()
      #expect(call.isCancelled)
    }
    #expect(await fixture.leftovers().isEmpty)
  }

  // MARK: - Delegates and threads

  @MainActor @Test func `subclass of a delegate is called`() async {
    class Page: CallDelegate {
      func requestFinished(_ call: CallInfo, _ response: APIResponse<any Sendable>) {}
      func requestFailed(_ call: CallInfo, _ error: APIError) {}
    }
    final class UserPage: Page {
      let told = Recorded<Bool>()
      override func requestFinished(_ call: CallInfo, _ response: APIResponse<any Sendable>) {
        told.append(call.value(of: ProbeRequest.self, in: response) != nil)
      }
    }
    let fixture = DeliveryFixture()
    fixture.exchange.open()
    fixture.hook.open()
    let page = UserPage()
    fixture.client.start(fixture.request, options: fixture.options(), delegate: page)
    await fixture.ended.waitStubbornly()
    #expect(page.told.all == [true])
  }

  @MainActor @Test func `released delegate is not called`() async {
    let fixture = DeliveryFixture()
    fixture.hook.open()
    let leaks = LeakCheck()
    var delegate: NotingDelegate? = NotingDelegate(fixture.events)
    if let delegate {
      leaks.watch(delegate, "delegate")
      fixture.client.start(fixture.request, options: fixture.options(), delegate: delegate)
    }
    await fixture.exchange.reached()
    delegate = nil
    #expect(await leaks.survivors().isEmpty, "the delegate is referenced weakly, also while the call runs")
    fixture.exchange.open()
    await fixture.ended.waitStubbornly()
    #expect(!fixture.events.all.contains { $0.hasPrefix("told") })
    #expect(fixture.events.all.last == "didStop call success")
    #expect(await fixture.leftovers().isEmpty)
  }

  @Test func `calls may start on any thread`() async {
    let fixture = DeliveryFixture()
    fixture.hook.open()
    fixture.exchange.open()
    let told = Recorded<Bool>()
    let started = Recorded<Call>()
    let count = 16
    let queue = DispatchQueue(label: "starters", attributes: .concurrent)
    for index in 0..<count {
      queue.async {
        if index.isMultiple(of: 2) {
          let call = fixture.client.start(fixture.request) { _ in
            MainActor.preconditionIsolated()
            told.append(true)
          }
          started.append(call)
        } else {
          let call = fixture.client.start(fixture.request, on: .queue(queue)) { _ in
            dispatchPrecondition(condition: .onQueue(queue))
            told.append(false)
          }
          started.append(call)
        }
      }
    }
    #expect(await eventually { told.count == count && started.count == count })
    #expect(told.all.count { $0 } == count / 2)
    #expect(Set(started.all.map(\.id)).count == count)
    #expect(await fixture.leftovers().isEmpty)
  }

  @MainActor @Test func `running call needs no handle or client`() async {
    let events = Recorded<String>()
    let ended = Latch()
    let exchange = Latch()
    do {
      var configuration = ClientConfiguration(baseURL: "http://h.example")
      configuration.transport = .own(
        ScriptedTransport { _ in
          try await exchange.wait()
          return .text("value")
        })
      let hook = Latch()
      hook.open()
      APIClient(configuration).start(
        ProbeRequest(events: events, hook: hook),
        options: CallOptions(accessories: [Noter("call", events, ended: ended)])
      ) { _ in events.append("told success") }
    }
    await exchange.reached()
    exchange.open()
    await ended.waitStubbornly()
    #expect(events.all.contains("told success"))
  }

  @MainActor @Test func `closure may start another call`() async {
    let fixture = DeliveryFixture()
    fixture.hook.open()
    fixture.exchange.open()
    let done = Latch()
    fixture.client.start(fixture.request) { _ in
      fixture.client.start(fixture.request) { _ in
        fixture.client.cancelAll()
        done.open()
      }
    }
    await done.waitStubbornly()
    #expect(await fixture.leftovers().isEmpty)
  }

  @MainActor @Test func `hook is notified of a cancel`() async {
    let fixture = DeliveryFixture()
    fixture.exchange.open()
    let call = fixture.client.start(outcomeOf: fixture.request, options: fixture.options()) {
      fixture.events.append("told \($0.told)")
    }
    await fixture.hook.reached()
    call.cancel()
    await fixture.ended.waitStubbornly()
    #expect(fixture.events.all.contains("told cancelled"))
    #expect(fixture.events.all.contains("after cancelled"))
  }

  @MainActor @Test func `hooks see the result`() async {
    let fixture = DeliveryFixture()
    let seen = Recorded<String>()
    let request = WatchedRequest(
      delivery: Delivery(
        beforeCompletion: { seen.append("before \($0.told)") }, afterCompletion: { seen.append("after \($0.told)") }))
    let call = fixture.client.start(request, options: fixture.options()) { _ in }
    await fixture.exchange.reached()
    call.cancel()
    await fixture.ended.waitStubbornly()
    #expect(seen.all == ["before cancelled", "after cancelled"])
  }

  @Test func `expired deadline sends nothing`() async {
    let transport = ScriptedTransport(.text("late"))
    var configuration = ClientConfiguration(baseURL: "http://h.example")
    configuration.transport = .own(transport)
    let client = APIClient(configuration)
    for _ in 1...50 {
      let outcome = await client.outcome(of: WatchedRequest(), options: .deadline(.seconds(0)))
      #expect(outcome.error?.stage == .deadline && outcome.metrics.attempts == 0)
    }
    #expect(transport.requests.isEmpty)
  }

  @Test(arguments: [true, false]) func `deadline does not cancel the hook`(isDeadline: Bool) async {
    let (latch, clock) = (Latch(), ManualClock())
    let transport = ScriptedTransport { _ in
      try await latch.wait()
      return .text("late")
    }
    var configuration = ClientConfiguration(baseURL: "http://h.example")
    (configuration.transport, configuration.timers) = (.own(transport), clock)
    let client = APIClient(configuration)
    let seen = Recorded<String>()
    var options = CallOptions.deadline(.seconds(5))
    options.beforeCompletion = { seen.append("\($0.told) \(Task.isCancelled)") }
    let call = Task { await client.outcome(of: WatchedRequest(), options: options) }
    await latch.reached()
    if isDeadline { clock.advance(by: .seconds(5)) } else { call.cancel() }
    _ = await call.value
    #expect(seen.all == [isDeadline ? "deadline false" : "cancelled true"])
  }

  @MainActor @Test(arguments: [true, false]) func `hooks of options run before request's hooks`(ends: Bool) async {
    let fixture = DeliveryFixture()
    let seen = Recorded<String>()
    let request = WatchedRequest(
      delivery: Delivery(
        beforeCompletion: { seen.append("before \($0.told)") }, afterCompletion: { seen.append("after \($0.told)") }))
    var options = fixture.options()
    options.beforeCompletion = { seen.append("options before \($0.told)") }
    options.afterCompletion = { ending in
      MainActor.assertIsolated()
      seen.append("options after \(ending.told)")
    }
    let call = fixture.client.start(outcomeOf: request, options: options) { seen.append("told \($0.told)") }
    await fixture.exchange.reached()
    if ends { fixture.exchange.open() } else { call.cancel() }
    await fixture.ended.waitStubbornly()
    let told = ends ? "success" : "cancelled"
    #expect(seen.all == ["options before", "before", "options after", "after", "told"].map { "\($0) \(told)" })
    #expect(await fixture.leftovers().isEmpty)
  }

  @Test func `options' hooks run for group members`() async throws {
    let fixture = DeliveryFixture()
    fixture.exchange.open()
    let seen = Recorded<String>()
    var members = CallOptions()
    members.beforeCompletion = { seen.append("before \($0.told)") }
    members.afterCompletion = { seen.append("after \($0.told)") }
    let batch = Batch([WatchedRequest(), WatchedRequest()], width: 1)
    _ = await fixture.client.outcome(of: batch, options: GroupOptions(members: members))
    #expect(seen.all == ["before success", "after success", "before success", "after success"])
  }
}

/// A request whose hooks the test chooses.
struct WatchedRequest: APIRequest {
  typealias Response = String
  var delivery = Delivery<String>()
  var path: Path { "/watched" }
}
