@testable import ErrandCore
import Dispatch
import Errand
import ErrandTesting
import Testing
import TestSupport

/// Every way to start a group, combined with every way it can end: one terminal event, in order, and nothing left
/// behind.
@Suite(.serialized) struct GroupDeliveryTests {
  enum Form: CaseIterable, Sendable { case batch, chain, steps }

  enum Ending: CaseIterable, Sendable {
    case success, failure, cancelBefore, cancelDuring, cancelInHook, cancelQueued, cancelRacing, deadline
    case byOwner, ownerFreed, byTag, all, oneMember

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

    var holdsMembers: Bool {
      switch self {
      case .success, .failure, .cancelInHook, .cancelQueued, .cancelRacing: false
      default: true
      }
    }
  }

  /// The parts of one round.
  private final class Fixture: Sendable {
    let server: GroupServer
    let events = Recorded<String>()
    let calls = Recorded<CallEvent>()
    /// The hook before completion waits here.
    let hook = Latch()
    /// Opened by the group's accessory's `didStop`.
    let ended = Latch()

    init() {
      let (events, calls) = (events, calls)
      server = GroupServer { $0.accessories = [GroupNoter("client", events, calls: calls)] }
      server.breaks.open()
    }

    func options(_ owner: CallOwner?, _ captures: LeakCheck) -> GroupOptions {
      let captured = Captured()
      captures.watch(captured, "object of the options")
      var options = GroupOptions(deadline: .seconds(30), owner: owner, tag: "tagged")
      options.accessories = [GroupNoter("group", events, ended: ended)]
      options.members.accessories = [GroupNoter("member", events, calls: calls)]
      options.beforeCompletion = { [events, hook] _ in
        events.append("before")
        try? await hook.wait()
        withExtendedLifetime(captured) {}
      }
      options.afterCompletion = { [events] in
        events.append("after \($0.told)")
        withExtendedLifetime(captured) {}
      }
      return options
    }
  }

  @MainActor @Test(arguments: GroupDoor.allCases, Ending.allCases)
  func `group delivers one terminal event in order`(_ door: GroupDoor, _ ending: Ending) async {
    for form in Form.allCases {
      for round in 0..<max(rounds / 10, 1) {
        let leaks = LeakCheck()
        var problems = await Self.play(door, ending, form, leaks)
        problems += await leaks.survivors(turns: 20_000).map { "\($0) lives on" }
        guard problems.isEmpty else {
          Issue.record("\(form), round \(round): \(problems.joined(separator: "\n"))")
          break
        }
      }
    }
  }

  @MainActor private static func play(
    _ door: GroupDoor, _ ending: Ending, _ form: Form, _ leaks: LeakCheck
  ) async -> [String] {
    let fixture = Fixture()
    let client = fixture.server.client
    var owner: CallOwner? = CallOwner()
    leaks.watch(client, "client")
    if let owner { leaks.watch(owner, "owner") }
    if !ending.holdsMembers { fixture.server.latch.open() }
    if ending != .cancelInHook, ending != .cancelQueued { fixture.hook.open() }
    if ending == .cancelQueued, door.isOnQueue { GroupDoor.queue.suspend() }

    let captures = LeakCheck()
    let started = start(door, ending, form, fixture, fixture.options(owner, captures), leaks, captures)
    if ending == .cancelBefore { started.cancel() }
    if ending == .cancelRacing { await race(started) }
    if ending.holdsMembers, ending != .cancelBefore { await fixture.server.latch.reached() }
    if ending == .cancelInHook || ending == .cancelQueued { await fixture.hook.reached() }
    for entry in client.registry.running { leaks.watch(entry.state, "state") }
    switch ending {
    case .success, .failure, .cancelBefore, .cancelRacing: break
    case .cancelDuring, .cancelInHook: started.cancel()
    case .cancelQueued: cancelQueued(door, started, fixture)
    case .deadline: fixture.server.clock.advance(by: .seconds(30))
    case .byOwner: if let owner { client.cancel(owner: owner) }
    case .ownerFreed: owner = nil
    case .byTag: client.cancel(tag: "tagged")
    case .all: client.cancelAll()
    // Cancels the member that is held; the other one may have ended.
    case .oneMember: client.running.first { $0.info.request is Words }?.cancel()
    }
    var problems = await verdict(door, ending, started, fixture)
    // The handle is still retained here; the objects that the closures captured must be free anyway.
    problems += await captures.survivors(turns: 20_000).map {
      "\($0) is still alive although only the handle is retained"
    }
    withExtendedLifetime(started) {}
    return problems
  }

  @MainActor private static func start(
    _ door: GroupDoor, _ ending: Ending, _ form: Form, _ fixture: Fixture, _ options: GroupOptions,
    _ leaks: LeakCheck, _ captures: LeakCheck
  ) -> StartedGroup {
    let (client, events) = (fixture.server.client, fixture.events)
    let last = Wish(ending == .failure ? "broken" : "ok")
    switch form {
    case .batch:
      return door.start(Batch(Words("a", latch: true), last), client, options, events, leaks, captures)
    case .chain:
      let chain = Chain { chain in
        let a = try await chain.send(Words("a", latch: true))
        return try await chain.batch(Words(a), last)
      }
      return door.start(chain, client, options, events, leaks, captures)
    case .steps:
      var chain = StepChain()
      chain.add(Words("a", latch: true)) { text, chain in chain.add(Words(text)) }
      chain.add(last)
      return door.start(chain, client, options, events, leaks, captures)
    }
  }

  /// Cancels when the success is already queued on the executor.
  @MainActor private static func cancelQueued(_ door: GroupDoor, _ started: StartedGroup, _ fixture: Fixture) {
    fixture.hook.open()
    if door.isOnMain {
      // The timer for late deliveries is set just before the job is enqueued on the main actor.
      holdMain { fixture.server.clock.pending == 1 }
    }
    // The queue is suspended, so the job cannot run before the cancel that is enqueued first.
    started.cancel()
    if door.isOnQueue { GroupDoor.queue.resume() }
  }

  @MainActor private static func race(_ started: StartedGroup) async {
    let (call, task) = (started.call, started.task)
    await Task { @concurrent in
      call?.cancel()
      task?.cancel()
    }.value
  }

  // MARK: - The verdict

  @MainActor private static func verdict(
    _ door: GroupDoor, _ ending: Ending, _ started: StartedGroup, _ fixture: Fixture
  ) async -> [String] {
    var problems: [String] = []
    let hasEnded = await eventually { fixture.events.all.contains { $0.hasPrefix("didStop group") } }
    if !hasEnded {
      problems.append("the group does not end")
      started.cancel()
      fixture.server.latch.open()
    }
    await fixture.ended.waitStubbornly()
    await started.task?.value
    problems += await fixture.server.leftovers()
    let events = fixture.events.all.filter { !$0.hasPrefix("progress") }
    let told = events.filter { $0.hasPrefix("after") }.map { String($0.dropFirst(6)) }
    // Here the cancel does not run on the executor of the delivery, so the success may come first.
    let isElsewhere = door == .outcomeElsewhere || door == .closuresOnTasks
    let mayEnd = isElsewhere && ending == .cancelQueued ? ["cancelled", "success"] : ending.told
    if told.count != 1 || !mayEnd.contains(told[0]) { problems.append("told: \(told)") }
    if ownEvents(events) != order(door, told.first ?? "nothing") { problems.append("events: \(events)") }
    for accessory in ["client", "member"] {
      let unfinished = fixture.calls.unfinished(of: accessory)
      if !unfinished.isEmpty { problems.append("\(accessory) of calls: \(unfinished)") }
    }
    if fixture.calls.stories(of: "client").count != fixture.calls.stories(of: "member").count {
      problems.append("client and member accessories differ")
    }
    if let call = started.call, call.isExecuting { problems.append("executes after the end") }
    if let call = started.call, call.isCancelled != (told.first == "cancelled") {
      problems.append("isCancelled is wrong")
    }
    return problems
  }

  /// The client's accessory also receives the events of the chain's inner batch; this removes those pairs.
  private static func ownEvents(_ events: [String]) -> [String] {
    guard let first = events.firstIndex(of: "willStart group"),
      let last = events.firstIndex(of: "before"), first < last
    else { return events }
    let inner = events[(first + 1)..<last]
    let isWhole = inner.allSatisfy { $0.hasSuffix("client") || $0.contains("Stop client") } && inner.count % 3 == 0
    return isWhole ? Array(events[...first] + events[last...]) : events
  }

  private static func order(_ door: GroupDoor, _ told: String) -> [String] {
    let names = ["client", "group"]
    let start = names.map { "willStart \($0)" } + ["before"]
    let stop = names.map { "willStop \($0) \(told)" } + ["after \(told)"]
    let end = names.map { "didStop \($0) \(told)" }
    if door == .freedDelegate { return start + stop + end }
    return start + stop + (door.isAwaited ? end + ["told \(told)"] : ["told \(told)"] + end)
  }
}
