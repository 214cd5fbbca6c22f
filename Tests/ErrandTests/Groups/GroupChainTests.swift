@testable import ErrandCore
import Errand
import ErrandTesting
import Testing
import TestSupport

/// The closure form of a chain: steps, branches, errors and stops.
struct GroupChainTests {
  private enum Refusal: Error, Equatable { case tooYoung }

  @Test func `steps and branches run`() async throws {
    let server = GroupServer()
    let welcome = try await server.client.chain { chain in
      let id = try await chain.send(Number(5))
      async let words = chain.send(Words("five"))
      async let bytes = chain.send(Bytes("\(id)"))
      return try await chain.send(Words("\(words)\(String(decoding: bytes, as: UTF8.self))"))
    }
    #expect(welcome == "five5")
    #expect(server.paths.first == "/number/5" && server.paths.last == "/words/five5")
    #expect(await server.leftovers().isEmpty)
  }

  @Test func `branches run concurrently`() async throws {
    let server = GroupServer()
    async let done = server.client.chain { chain in
      async let a = chain.send(Words("a", latch: true))
      async let b = chain.send(Words("b", latch: true))
      return try await a + b
    }
    await server.latch.reached(2)
    server.latch.open()
    #expect(try await done == "ab")
  }

  @Test func `thrown error cancels branches`() async throws {
    let server = GroupServer()
    let calls = Recorded<CallEvent>()
    server.client.configure { $0.accessories = [GroupNoter("client", Recorded(), calls: calls)] }
    let error = await #expect(throws: Refusal.self) {
      try await server.client.chain { chain in
        async let words = chain.send(Words("a", latch: true))
        async let batch = chain.batch(Words("b", latch: true), Words("c", latch: true))
        await server.latch.reached(3)
        if server.peak == 3 { throw Refusal.tooYoung }
        _ = try await (words, batch)
      }
    }
    #expect(error == .tooYoung)
    #expect(calls.stories(of: "client").count == 3)
    #expect(calls.stories(of: "client").allSatisfy { $0.last == "didStop cancelled" })
    #expect(await server.leftovers().isEmpty)
  }

  // MARK: - Errors

  @Test func `typed errors keep their type`() async throws {
    let server = GroupServer()
    do throws(Refusal) {
      try await server.client.chain { (chain) async throws(Refusal) -> Void in
        _ = await chain.outcome(of: Number(1))
        throw Refusal.tooYoung
      }
      Issue.record("the chain should throw")
    } catch {
      #expect(error == .tooYoung)
    }
    server.breaks.open()
    do throws(APIError) {
      try await server.client.chain { (chain) async throws(APIError) -> Void in
        _ = try await chain.send(Number(1))
        _ = try await chain.send(Broken())
      }
      Issue.record("the chain should throw")
    } catch {
      #expect(error.members == [GroupMember(kind: .chain, group: "chain", index: 1, name: "Broken")])
      #expect("\(error)".hasSuffix("(step 2 of the chain, Broken)"))
    }
    let value = await server.client.chain { chain in await chain.outcome(of: Number(4)).value }
    #expect(value == 4, "a chain that cannot fail needs no try")
  }

  @Test func `app error becomes a cause`() async throws {
    let server = GroupServer()
    let outcome = await server.client.outcome(of: Chain { _ in throw Refusal.tooYoung })
    let error = try #require(outcome.error)
    #expect(error.stage == .group && error.code == .step)
    #expect(error.cause as? Refusal == .tooYoung)
    #expect(error.message == "A step of the chain failed: tooYoung.")
  }

  @Test func `hooks and accessories receive app errors`() async throws {
    let server = GroupServer()
    let events = Recorded<String>()
    let options = GroupOptions(
      accessories: [GroupNoter("group", events)],
      beforeCompletion: { events.append("before \($0.told)") },
      afterCompletion: { events.append("after \($0.told)") })
    await #expect(throws: Refusal.self) {
      try await server.client.chain(options: options) { _ in throw Refusal.tooYoung }
    }
    #expect(
      events.all == ["willStart group", "before group", "willStop group group", "after group", "didStop group group"])
  }

  @Test func `nested app error keeps its type`() async throws {
    let server = GroupServer()
    let reports = Recorded<String>()
    let options = GroupOptions(afterCompletion: { ending in
      for entry in ending.report.entries { reports.append("\(entry.name) \(entry.state)") }
    })
    await #expect(throws: Refusal.self) {
      try await server.client.chain(options: options) { chain in
        try await chain.chain { inner in
          _ = try await inner.send(Number(1))
          throw Refusal.tooYoung
        }
      }
    }
    #expect(reports.all == ["chain failed: step"])
    server.breaks.open()
    let error = try await #require(throws: APIError.self) {
      try await server.client.chain { chain in
        _ = try await chain.send(Number(1))
        try await chain.chain { inner in _ = try await inner.send(Broken()) }
      }
    }
    #expect(error.members.map(\.index) == [1, 0])
    #expect(error.members.map(\.name) == ["chain", "Broken"])
  }

  // MARK: - Stops

  @Test func `cancel inside a chain cancels it`() async throws {
    let server = GroupServer()
    let error = try await #require(throws: APIError.self) {
      _ = try await server.client.chain { chain in
        _ = try await chain.send(Number(0))
        async let held = chain.outcome(of: Words("a", latch: true))
        await server.latch.reached()
        chain.cancel()
        #expect(chain.isStopped)
        #expect(await held.told == "cancelled")
        #expect(await chain.outcome(of: Number(1)).told == "cancelled", "no further request is sent")
        return "a value that does not count"
      }
    }
    #expect(error.stage == .cancelled)
    #expect(error.message == "The chain was cancelled.")
    #expect(server.paths == ["/number/0", "/held/a"])
    #expect(await server.leftovers().isEmpty)
  }

  @Test(arguments: GroupStopTests.Way.allCases)
  func `every stop ends a chain`(_ way: GroupStopTests.Way) async {
    let server = GroupServer()
    var owner: CallOwner? = CallOwner()
    var options: GroupOptions? = GroupOptions(deadline: .seconds(5), owner: owner, tag: "feed")
    let task = Task { [options] in
      do {
        _ = try await server.client.chain(options: options ?? GroupOptions()) { chain in
          async let branch = chain.batch(Words("b", latch: true), Words("c", latch: true))
          return try await (chain.send(Words("a", latch: true)), branch)
        }
        return "success"
      } catch let error as APIError {
        return error.message
      } catch {
        return "\(error)"
      }
    }
    options = nil
    await server.latch.reached(3)
    switch way {
    case .task: task.cancel()
    case .owner: if let owner { #expect(server.client.cancel(owner: owner) == 1) }
    case .ownerFreed: owner = nil
    case .tag: #expect(server.client.cancel(tag: "feed") == 1)
    case .all: #expect(server.client.cancelAll() == 1)
    case .deadline: server.clock.advance(by: .seconds(5))
    }
    #expect(await task.value == way.message.replacing("batch", with: "chain"))
    #expect(await server.leftovers().isEmpty)
    withExtendedLifetime(owner) {}
  }

  /// A started chain ends even if its closure is not waiting for a call.
  @Test(arguments: GroupStopTests.Way.allCases.filter { $0 != .ownerFreed })
  func `stop ends a started chain immediately`(_ way: GroupStopTests.Way) async {
    let server = GroupServer()
    let (latch, ended) = (Latch(), Latch())
    let told = Recorded<String>()
    let owner = CallOwner()
    let options = GroupOptions(deadline: .seconds(5), owner: owner, tag: "feed")
    let chain = Chain { _ in (try? await latch.wait()) == nil ? "given up" : "waited" }
    let call = server.client.start(outcomeOf: chain, on: .inPlace, options: options) {
      told.append($0.error?.message ?? "success")
      ended.open()
    }
    await latch.reached()
    switch way {
    case .task: call.cancel()
    case .owner, .ownerFreed: server.client.cancel(owner: owner)
    case .tag: server.client.cancel(tag: "feed")
    case .all: server.client.cancelAll()
    case .deadline: server.clock.advance(by: .seconds(5))
    }
    let hasEnded = await eventually(turns: 20_000) { !call.isExecuting }
    #expect(hasEnded)
    if !hasEnded { latch.open() }
    await ended.waitStubbornly()
    #expect(told.all == [way.message.replacing("batch", with: "chain")], "the value of the closure is ignored")
    withExtendedLifetime(owner) {}
    #expect(await server.leftovers().isEmpty)
  }

  @Test func `thrown CancellationError cancels the chain`() async throws {
    let server = GroupServer()
    let outcome = await server.client.outcome(of: Chain { _ in throw CancellationError() })
    #expect(outcome.error?.stage == .cancelled)
    await #expect(throws: APIError.self) { try await server.client.chain { _ in throw CancellationError() } }
  }

  /// Calls that a closure leaves running do not outlive the chain.
  @Test func `unfinished members end with the chain`() async throws {
    let server = GroupServer()
    let told = Recorded<String>()
    let scopes = Recorded<GroupScope>()
    let left = Recorded<Task<Void, Never>>()
    let value = try await server.client.chain { chain in
      scopes.append(chain)
      left.append(Task { told.append(await chain.outcome(of: Words("a", latch: true)).told) })
      await server.latch.reached()
      return try await chain.send(Number(1))
    }
    #expect(value == 1)
    let isEmpty = await eventually(turns: 20_000) { server.client.running.isEmpty }
    #expect(isEmpty, "the call outlives its chain")
    if !isEmpty { server.latch.open() }
    for task in left.all { await task.value }
    #expect(told.all == ["cancelled"])
    let late = await scopes.all[0].outcome(of: Number(2))
    #expect(late.told == "cancelled", "the chain is over")
    let group = await scopes.all[0].outcome(of: Batch(Number(3), Number(4)))
    #expect(group.told == "cancelled")
    #expect(server.paths == ["/held/a", "/number/1"])
    #expect(await server.leftovers().isEmpty)
  }

  // MARK: - Isolation

  @MainActor @Test func `main actor closure stays there`() async throws {
    let server = GroupServer()
    let page = Page()
    try await server.client.chain { chain in
      MainActor.assertIsolated()
      page.text = try await chain.send(Words("a"))
      MainActor.assertIsolated()
      page.text += try await chain.batch(Words("b"), Words("c")).1
      MainActor.assertIsolated()
    }
    MainActor.assertIsolated()
    #expect(page.text == "ac")
  }

  @MainActor private final class Page {
    var text = ""
  }
}
