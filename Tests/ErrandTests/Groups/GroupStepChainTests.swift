@testable import ErrandCore
import Dispatch
import Errand
import ErrandTesting
import Synchronization
import Testing

/// A chain that is built step by step: its callbacks and its end.
struct GroupStepChainTests {
  private enum Refusal: Error, Equatable { case first, second }

  /// Starts a chain and waits for its end.
  @MainActor private static func end(
    _ chain: StepChain, _ server: GroupServer, _ options: GroupOptions = GroupOptions()
  ) async -> GroupOutcome<StepValues> {
    let ended = Latch()
    let outcomes = Recorded<GroupOutcome<StepValues>>()
    server.client.start(outcomeOf: chain, options: options) {
      outcomes.append($0)
      ended.open()
    }
    await ended.waitStubbornly()
    let left = await server.leftovers()
    #expect(left.isEmpty)
    #expect(outcomes.count == 1)
    return outcomes.all[0]
  }

  @MainActor @Test func `callback runs before the next step`() async {
    let server = GroupServer()
    let got = Recorded<String>()
    var chain = StepChain()
    chain.add(Number(1)) { number, _ in got.append("\(number): \(server.paths.count)") }
    chain.add(Words("two"))
    chain.add(Batch(Number(3), Words("four"))) { pair, chain in
      got.append("\(pair.0)\(pair.1): \(server.paths.count) \(chain.report.entries.count)")
    }
    let outcome = await Self.end(chain, server)
    #expect(got.all == ["1: 1", "3four: 4 3"])
    #expect(outcome.value?.all.count == 3)
    #expect(outcome.value?.first(Int.self) == 1)
    #expect(outcome.value?.first(String.self) == "two")
    #expect(outcome.value?.first(Double.self) == nil)
  }

  @MainActor @Test func `callbacks may add steps`() async {
    let server = GroupServer()
    let got = Recorded<String>()
    var chain = StepChain("counting")
    chain.add(Number(1)) { _, chain in
      chain.add(Number(3)) { _, chain in
        got.append("\(chain.add(Number(4), on: .inPlace) { number, _ in got.append("\(number)") })")
      }
    }
    chain.add(Number(2))
    let outcome = await Self.end(chain, server)
    #expect(server.paths == ["/number/1", "/number/2", "/number/3", "/number/4"])
    #expect(got.all == ["true", "4"])
    #expect(outcome.value?.all.compactMap { $0 as? Int } == [1, 2, 3, 4])
    #expect(await Self.end(chain, server).value?.all.count == 4, "each run has its own steps")
  }

  @MainActor @Test func `two runs are independent`() async {
    let server = GroupServer()
    let ended = Latch()
    let got = Recorded<String>()
    var chain = StepChain()
    chain.add(Words("a", latch: true)) { text, chain in chain.add(Words(text)) }
    for _ in 0..<2 {
      server.client.start(outcomeOf: chain) {
        got.append("\($0.value?.all.count ?? -1)")
        if got.count == 2 { ended.open() }
      }
    }
    chain.add(Number(9))
    await server.latch.reached(2)
    server.latch.open()
    await ended.waitStubbornly()
    #expect(got.all == ["2", "2"], "a step added after the start belongs to later runs")
  }

  @MainActor @Test(arguments: ["end", "failure", "stop", "own failure"])
  func `no step is added after the end`(_ ending: String) async {
    let server = GroupServer()
    server.breaks.open()
    let chains = Recorded<RunningChain>()
    var chain = StepChain()
    chain.add(Number(1)) { _, chain in
      chains.append(chain)
      if ending == "stop" { chain.stop() }
      if ending == "own failure" { chain.fail(Refusal.first) }
    }
    if ending == "failure" { chain.add(Broken()) }
    _ = await Self.end(chain, server)
    let asked = server.paths.count
    #expect(chains.all[0].add(Number(2)) == false)
    #expect(chains.all[0].add(Number(2), on: .inPlace) { _, _ in } == false)
    #expect(server.paths.count == asked)
  }

  @MainActor @Test func `empty chain completes`() async {
    let server = GroupServer()
    let outcome = await Self.end(StepChain(), server)
    #expect(outcome.value?.all.isEmpty == true)
  }

  /// The chain has no delegate and nothing retains it: it runs anyway and is released.
  @MainActor @Test func `chain without delegate runs and is released`() async {
    let server = GroupServer()
    let leaks = LeakCheck()
    do {
      var delegate: NotingGroupDelegate? = NotingGroupDelegate(Recorded())
      var chain = StepChain()
      let captured = Captured()
      leaks.watch(captured, "captured")
      chain.add(Words("a", latch: true)) { _, chain in
        withExtendedLifetime(captured) {}
        chain.add(Number(2))
        leaks.watch(chain, "running chain")
      }
      if let delegate {
        leaks.watch(delegate, "delegate")
        server.client.start(chain, delegate: delegate)
      }
      delegate = nil
    }
    await server.latch.reached()
    server.latch.open()
    #expect(await server.leftovers().isEmpty)
    #expect(server.paths == ["/held/a", "/number/2"])
    #expect(await leaks.survivors(turns: 20_000).isEmpty)
  }

  // MARK: - Ending early

  @MainActor @Test(arguments: ["main", "queue"]) func `stopped chain does not succeed`(_ place: String) async {
    let server = GroupServer()
    let got = Recorded<String>()
    let queue = DispatchQueue(label: "steps")
    var chain = StepChain()
    if place == "main" {
      chain.add(Number(1)) { _, chain in
        chain.stop()
        chain.add(Number(7)) { _, _ in got.append("added step") }
      }
    } else {
      chain.add(Number(1), on: .queue(queue)) { _, chain in chain.stop() }
    }
    chain.add(Number(2)) { _, _ in got.append("next step") }
    let outcome = await Self.end(chain, server)
    #expect(outcome.error?.stage == .cancelled)
    #expect(outcome.error?.message == "The chain was cancelled.")
    #expect(got.all.isEmpty)
    #expect(server.paths == ["/number/1"])
  }

  /// A stop in the callback of the last step counts too, although no step follows.
  @MainActor @Test func `stop in the last callback counts`() async {
    let server = GroupServer()
    var chain = StepChain()
    chain.add(Number(1)) { _, chain in chain.stop() }
    #expect(await Self.end(chain, server).told == "cancelled")
  }

  /// A step that sends nothing and ignores that the chain is stopped.
  private struct Deaf: GroupStep {
    let act: @Sendable (GroupScope) async -> Void

    func run(in group: GroupScope) async throws(APIError) -> Int {
      await act(group)
      return 1
    }
  }

  @MainActor @Test(arguments: ["cancel", "deadline"]) func `stopped chain starts no further step`(_ way: String) async {
    let server = GroupServer()
    let got = Recorded<String>()
    var chain = StepChain()
    chain.add(
      Deaf { group in
        got.append("first")
        if way == "cancel" { return group.cancel() }
        #expect(await server.clock.waitForTimers(1))
        server.clock.advance(by: .seconds(5))
      })
    chain.add(Deaf { _ in got.append("second") })
    let outcome = await Self.end(chain, server, .deadline(.seconds(5)))
    #expect(outcome.told == (way == "cancel" ? "cancelled" : "deadline"))
    #expect(got.all == ["first"])
  }

  @MainActor @Test(arguments: [1, 2]) func `fail ends the chain with its error`(_ steps: Int) async throws {
    let server = GroupServer()
    var chain = StepChain("order")
    chain.add(Number(1)) { _, chain in
      chain.fail(Refusal.first)
      chain.fail(Refusal.second)
    }
    if steps == 2 { chain.add(Number(2)) }
    let outcome = await Self.end(chain, server)
    let error = try #require(outcome.error)
    #expect(error.code == .step)
    #expect(error.cause as? Refusal == .first)
    #expect(server.paths == ["/number/1"])
  }

  @MainActor @Test func `given API error is kept`() async {
    let server = GroupServer()
    var chain = StepChain()
    chain.add(Number(1)) { _, chain in chain.fail(APIError(.validate, .business, "Too young.")) }
    let outcome = await Self.end(chain, server)
    #expect(outcome.error?.code == .business && outcome.error?.message == "Too young.")
  }

  @MainActor @Test func `failed step ends the chain`() async {
    let server = GroupServer()
    server.breaks.open()
    let got = Recorded<String>()
    var chain = StepChain("order")
    chain.add(Number(1))
    chain.add(Broken()) { _, _ in got.append("callback of a failure") }
    chain.add(Number(3)) { _, _ in got.append("after a failure") }
    let outcome = await Self.end(chain, server)
    #expect(outcome.error?.members == [GroupMember(kind: .chain, group: "order", index: 1, name: "Broken")])
    #expect(got.all.isEmpty)
    #expect(server.paths == ["/number/1", "/broken/x"])
  }

  @MainActor @Test(arguments: GroupStopTests.Way.allCases.filter { $0 != .task })
  func `every stop ends a step chain`(_ way: GroupStopTests.Way) async {
    let server = GroupServer()
    let ended = Latch()
    let told = Recorded<String>()
    var owner: CallOwner? = CallOwner()
    var chain = StepChain()
    chain.add(Number(1))
    chain.add(Words("a", latch: true)) { _, _ in told.append("callback") }
    chain.add(Number(2))
    server.client.start(outcomeOf: chain, options: GroupOptions(deadline: .seconds(5), owner: owner, tag: "feed")) {
      told.append($0.error?.message ?? "success")
      ended.open()
    }
    await server.latch.reached()
    switch way {
    case .owner: if let owner { server.client.cancel(owner: owner) }
    case .ownerFreed: owner = nil
    case .tag: server.client.cancel(tag: "feed")
    case .all, .task: server.client.cancelAll()
    case .deadline: server.clock.advance(by: .seconds(5))
    }
    await ended.waitStubbornly()
    #expect(told.all == [way.message.replacing("batch", with: "chain")])
    #expect(await server.leftovers().isEmpty)
    withExtendedLifetime(owner) {}
  }

  // MARK: - Executors of callbacks

  @MainActor @Test func `callbacks run on their executor`() async {
    let server = GroupServer()
    let queue = DispatchQueue(label: "steps", attributes: .concurrent)
    let key = DispatchSpecificKey<Bool>()
    queue.setSpecific(key: key, value: true)
    let got = Recorded<String>()
    let taken = Atomic<Int>(0)
    var chain = StepChain()
    chain.add(Number(1), on: .queue(queue)) { _, _ in
      got.append("queue \(DispatchQueue.getSpecific(key: key) ?? false)")
    }
    chain.add(
      Number(2),
      on: .custom { job in
        taken.wrappingAdd(1, ordering: .relaxed)
        Task.detached { job() }
      }
    ) { _, _ in got.append("custom") }
    chain.add(Number(3)) { _, _ in
      MainActor.assertIsolated()
      got.append("main")
    }
    _ = await Self.end(chain, server)
    #expect(got.all == ["queue true", "custom", "main"])
    #expect(taken.load(ordering: .relaxed) == 1)
  }

  /// A caller that awaits the chain on the main actor does not block the chain's callbacks.
  @MainActor @Test func `awaited chain runs its callbacks`() async throws {
    let server = GroupServer()
    let got = Recorded<Int>()
    var chain = StepChain()
    chain.add(Number(1)) { number, _ in got.append(number) }
    let values = try await server.client.send(chain)
    #expect(got.all == [1] && values.first(Int.self) == 1)
  }

  /// A cancel withdraws a callback that waits for a busy main actor, and the end of the chain follows.
  @MainActor @Test(arguments: ["handle", "deadline"])
  func `cancel withdraws a queued callback`(_ way: String) async {
    let server = GroupServer()
    let ended = Latch()
    let told = Recorded<String>()
    let isAnswered = Atomic<Bool>(false)
    var chain = StepChain()
    chain.add(Number(1), on: .inPlace) { _, _ in isAnswered.store(true, ordering: .releasing) }
    chain.add(Number(2)) { _, _ in told.append("callback") }
    let call = server.client.start(outcomeOf: chain, options: .deadline(.seconds(5))) {
      told.append($0.told)
      ended.open()
    }
    // The main actor is busy from here until the second step has ended and its callback is queued.
    holdMain { call.report.entries.count == 2 && call.report.entries[1].duration != nil }
    for _ in 0..<50 { holdMain { true } }
    if way == "handle" { call.cancel() } else { server.clock.advance(by: .seconds(5)) }
    await ended.waitStubbornly()
    #expect(told.all == [way == "handle" ? "cancelled" : "deadline"])
    #expect(await server.leftovers().isEmpty)
  }

  @MainActor @Test func `no callback runs after a cancel`() async {
    let server = GroupServer()
    let (got, running) = (Recorded<String>(), Recorded<GroupCall>())
    var chain = StepChain()
    let executor = CallbackExecutor.custom { job in
      running.all.first?.cancel()
      job()
    }
    chain.add(Words("one", latch: true), on: executor) { text, _ in got.append(text) }
    let ended = Latch()
    running.append(
      server.client.start(outcomeOf: chain) {
        got.append($0.told)
        ended.open()
      })
    server.latch.open()
    await ended.waitStubbornly()
    #expect(got.all == ["cancelled"])
  }
}
