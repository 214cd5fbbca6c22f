@testable import ErrandCore
import Dispatch
import Errand
import ErrandTesting
import Testing
import TestSupport

/// Every way to start a call, combined with every way it can end, for many rounds: one terminal event, in order, and
/// nothing left behind. Every second round allows other calls to join the exchange.
@Suite(.serialized) struct DeliveryTableTests {
  enum Ending: CaseIterable, Sendable {
    case success, failure, cancelBefore, cancelDuring, cancelInHook, cancelQueued, cancelRacing, deadline
    case byOwner, ownerFreed, byTag, all

    /// The allowed terminal events. A race may end in either of two ways.
    var told: Set<String> {
      switch self {
      case .success: ["success"]
      case .failure: ["validate"]
      case .deadline: ["deadline"]
      case .cancelRacing: ["success", "cancelled"]
      default: ["cancelled"]
      }
    }

    var holdsExchange: Bool {
      switch self {
      case .cancelBefore, .cancelDuring, .deadline, .byOwner, .ownerFreed, .byTag, .all: true
      default: false
      }
    }
  }

  @MainActor @Test(arguments: DeliveryDoor.allCases, Ending.allCases)
  func `call delivers one terminal event in order`(door: DeliveryDoor, ending: Ending) async {
    for round in 0..<rounds {
      let problems = await Self.round(door, ending, round.isMultiple(of: 2) ? .safe : .never)
      guard problems.isEmpty else {
        Issue.record("round \(round): \(problems.joined(separator: "\n"))")
        return
      }
    }
  }

  @MainActor private static func round(
    _ door: DeliveryDoor, _ ending: Ending, _ joining: JoinRule
  ) async -> [String] {
    let leaks = LeakCheck()
    var problems = await play(door, ending, joining, leaks)
    problems += await leaks.survivors(turns: 20_000).map { "\($0) lives on" }
    return problems
  }

  @MainActor private static func play(
    _ door: DeliveryDoor, _ ending: Ending, _ joining: JoinRule, _ leaks: LeakCheck
  ) async -> [String] {
    let fixture = DeliveryFixture(status: ending == .failure ? 500 : 200) { $0.overlap.joining = joining }
    var owner: CallOwner? = CallOwner()
    leaks.watch(fixture.client, "client")
    if let owner { leaks.watch(owner, "owner") }
    if !ending.holdsExchange { fixture.exchange.open() }
    if ending != .cancelInHook, ending != .cancelQueued { fixture.hook.open() }
    if ending == .cancelQueued, door.isOnQueue { DeliveryDoor.queue.suspend() }

    let captures = LeakCheck()
    let started = door.start(fixture, fixture.options(owner: owner), leaks, captures)
    if ending == .cancelBefore { started.cancel() }
    if ending == .cancelRacing { await race(started, fixture) }
    if ending.holdsExchange, ending != .cancelBefore { await fixture.exchange.reached() }
    if ending == .cancelInHook || ending == .cancelQueued { await fixture.hook.reached() }
    for state in fixture.states { leaks.watch(state, "state") }
    switch ending {
    case .success, .failure, .cancelBefore, .cancelRacing: break
    case .cancelDuring, .cancelInHook: started.cancel()
    case .cancelQueued: cancelQueued(door, started, fixture)
    case .deadline: fixture.clock.advance(by: .seconds(120))
    case .byOwner: if let owner { fixture.client.cancel(owner: owner) }
    case .ownerFreed: owner = nil
    case .byTag: fixture.client.cancel(tag: "tagged")
    case .all: fixture.client.cancelAll()
    }
    var problems = await verdict(door, ending, started, fixture)
    // The handle is still retained here; the objects that the closures captured must be free anyway.
    problems += await captures.survivors(turns: 20_000).map {
      "\($0) is still alive although only the handle is retained"
    }
    withExtendedLifetime(started) {}
    return problems
  }

  /// Cancels when the success is already queued on the executor.
  @MainActor private static func cancelQueued(
    _ door: DeliveryDoor, _ started: StartedCall, _ fixture: DeliveryFixture
  ) {
    for state in fixture.states where state.isRunning { Issue.record("the work has not ended") }
    fixture.hook.open()
    if !door.isSend, !door.isOnQueue {
      // The timer for late deliveries is set just before the job is enqueued on the main actor.
      holdMain { fixture.clock.pending == 1 }
    }
    guard door.isOnQueue else { return started.cancel() }
    // The queue is suspended, so the job cannot run before the cancel that is enqueued first.
    started.cancel()
    DeliveryDoor.queue.resume()
  }

  @MainActor private static func race(_ started: StartedCall, _ fixture: DeliveryFixture) async {
    let call = started.call
    let task = started.task
    await Task { @concurrent in
      call?.cancel()
      task?.cancel()
    }.value
  }

  @MainActor private static func verdict(
    _ door: DeliveryDoor, _ ending: Ending, _ started: StartedCall, _ fixture: DeliveryFixture
  ) async -> [String] {
    var problems: [String] = []
    if ending == .ownerFreed {
      let hasEnded = await eventually(turns: 20_000) { fixture.events.all.contains { $0.hasPrefix("didStop call") } }
      if !hasEnded {
        problems.append("the call outlives its owner")
        started.cancel()
      }
    }
    await fixture.ended.waitStubbornly()
    await started.task?.value
    problems += await fixture.leftovers()
    let events = fixture.events.all.filter { !$0.hasPrefix("progress") }
    let told = events.filter { $0.hasPrefix("told") }.map { String($0.dropFirst(5)) }
    // Here the cancel does not run on the executor of the delivery, so the success may come first.
    let mayEnd = door == .sendElsewhere && ending == .cancelQueued ? ["cancelled", "success"] : ending.told
    if told.count != 1 || !mayEnd.contains(told[0]) { problems.append("told: \(told)") }
    let expected = order(door, told.first ?? "nothing")
    if events != expected { problems.append("events: \(events)") }
    if let call = started.call, call.isExecuting { problems.append("executes after the end") }
    if let call = started.call, call.isCancelled != (told.first == "cancelled") {
      problems.append("isCancelled is wrong")
    }
    return problems
  }

  private static func order(_ door: DeliveryDoor, _ told: String) -> [String] {
    let names = ["client", "request", "call"]
    let start = names.map { "willStart \($0)" } + ["before"]
    let stop = names.map { "willStop \($0) \(told)" } + ["after \(told)"]
    let end = names.map { "didStop \($0) \(told)" }
    return start + stop + (door.isSend ? end + ["told \(told)"] : ["told \(told)"] + end)
  }
}
