@testable import ErrandCore
import Errand
import ErrandTesting
import Foundation
import Testing
import TestSupport

/// The values of a batch, and how the failure of a member ends it.
struct GroupBatchTests {
  // MARK: - Values

  @Test func `tuple keeps its types`() async throws {
    let server = GroupServer()
    let (text, data, number) = try await server.client.batch(Words("a"), Bytes("b"), Number(7))
    let typed: (String, Data, Int) = (text, data, number)
    #expect(typed.0 == "a" && typed.1 == Data("b".utf8) && typed.2 == 7)
    let alone: String = try await server.client.batch(Words("alone"))
    #expect(alone == "alone")
  }

  @Test func `array keeps its order`() async throws {
    let server = GroupServer()
    let numbers = try await server.client.batch((0..<50).map { Number($0) }, width: 7)
    #expect(numbers == Array(0..<50))
    let lazily = try await server.client.batch((0..<3).lazy.map { Number($0) })
    #expect(lazily == [0, 1, 2])
  }

  @Test func `mixed list keeps its order`() async throws {
    let server = GroupServer()
    let requests: [any APIRequest] = [Number(3), Words("x"), Bytes("y")]
    let values = try await server.client.batch(mixed: requests)
    #expect(values[0] as? Int == 3 && values[1] as? String == "x" && values[2] as? Data == Data("y".utf8))
    let steps: [any GroupStep] = [Number(1), Batch(Number(2), Words("in"))]
    let nested = try await server.client.batch(mixed: steps)
    #expect((nested[1] as? (Int, String))?.0 == 2)
  }

  @Test func `empty batch completes immediately`() async throws {
    let server = GroupServer()
    #expect(try await server.client.batch([Number]()) == [])
    #expect(try await server.client.batch(mixed: []).isEmpty)
    #expect(await server.client.outcomes(of: [Number]()).isEmpty)
    #expect(await server.client.outcomes(mixed: []).isEmpty)
    #expect(try await server.client.atLeast(0, of: [Number]()) == [])
    #expect(try await server.client.atLeast(0, mixed: []).isEmpty)
    try await server.client.batch()
    #expect(server.transport.requests.isEmpty)
    #expect(await server.leftovers().isEmpty)
  }

  @Test func `same batch may run twice concurrently`() async throws {
    let server = GroupServer()
    let batch = Batch([Words("a", latch: true), Words("b", latch: true)])
    async let first = server.client.send(batch)
    async let second = server.client.send(batch)
    await server.latch.reached(4)
    server.latch.open()
    #expect(try await first == ["a", "b"])
    #expect(try await second == ["a", "b"])
    #expect(try await server.client.send(batch) == ["a", "b"], "the batch can run again afterwards")
    #expect(await server.leftovers().isEmpty)
  }

  // MARK: - Failures

  @Test func `first failure cancels the rest`() async throws {
    let server = GroupServer()
    let calls = Recorded<CallEvent>()
    server.client.configure { $0.accessories = [GroupNoter("client", Recorded(), calls: calls)] }
    let slow = Words("slow", latch: true)
    async let ended = server.client.outcome(of: Batch(slow, Number(1), slow, Broken()))
    await server.latch.reached(2)
    #expect(await eventually { calls.all.contains { $0.what == "didStop success" } })
    server.breaks.open()
    let outcome = await ended
    let error = try #require(outcome.error)
    #expect(error.code == .status)
    #expect(error.status == 500)
    #expect(error.members.map(\.index) == [3])
    #expect(error.members.first?.name == "Broken")
    #expect("\(error)".hasSuffix("(member 4 of the batch, Broken)"))
    #expect(
      outcome.report.entries.map { "\($0.state)" }.sorted() == [
        "cancelled", "cancelled", "failed: status 500", "network",
      ])
    #expect(calls.unfinished(of: "client").isEmpty)
    #expect(calls.all.count { $0.what == "didStop cancelled" } == 2)
    #expect(await server.leftovers().isEmpty)
  }

  @Test(arguments: ["array", "mixed", "mixed steps"]) func `failure names its member`(_ form: String) async throws {
    let server = GroupServer()
    server.breaks.open()
    let error = try await #require(throws: APIError.self) {
      switch form {
      case "array": _ = try await server.client.batch(["ok", "broken"].map(Wish.init), width: 1)
      case "mixed": _ = try await server.client.batch(mixed: [Number(1), Wish("broken")] as [any APIRequest], width: 1)
      default: _ = try await server.client.batch(mixed: [Number(1), Wish("broken")] as [any GroupStep], width: 1)
      }
    }
    #expect(error.members == [GroupMember(kind: .batch, group: "batch", index: 1, name: "Wish")])
    #expect(error.stage == .validate)
    #expect(error.request?.url.path == "/broken/broken")
  }

  @Test func `unstarted members produce no events`() async throws {
    let server = GroupServer()
    server.breaks.open()
    let calls = Recorded<CallEvent>()
    let options = GroupOptions(members: CallOptions(accessories: [GroupNoter("member", Recorded(), calls: calls)]))
    let outcome = await server.client.outcome(
      of: Batch(["ok", "broken", "ok", "ok"].map(Wish.init), width: 1), options: options)
    #expect(outcome.told == "validate")
    #expect(server.paths == ["/ok/ok", "/broken/broken"])
    #expect(calls.stories(of: "member").count == 2)
    #expect(outcome.report.entries.count == 2)
  }

  // MARK: - Width

  @Test(arguments: [(3, 3), (1, 1), (0, 1), (-4, 1), (50, 12)])
  func `width is never exceeded`(_ width: Int, _ expected: Int) async throws {
    let server = GroupServer()
    async let values = server.client.batch((0..<12).map { Words("\($0)", latch: true) }, width: width)
    await server.latch.reached(expected)
    #expect(server.client.running.count == expected)
    server.latch.open()
    #expect(try await values == (0..<12).map { "\($0)" })
    #expect(server.peak == expected)
  }

  // MARK: - Outcomes

  @Test func `failed member does not affect the others`() async throws {
    let server = GroupServer()
    server.breaks.open()
    let results = await server.client.outcomes(of: ["broken", "ok", "broken", "ok"].map(Wish.init), width: 2)
    #expect(results.map { (try? $0.get()) ?? "-" } == ["-", "ok", "-", "ok"])
    #expect(results.compactMap(\.error?.status) == [500, 500])
    let outcome = await server.client.outcome(of: Batch(outcomesOf: [Wish("broken")]))
    #expect(outcome.told == "success", "a batch of outcomes succeeds")
  }

  @Test func `outcomes of mixed members keep types`() async throws {
    let server = GroupServer()
    server.breaks.open()
    let steps: [any APIRequest] = [Number(3), Wish("broken"), Words("x")]
    let batch = Batch(outcomesOfMixed: steps)
    for results in [await server.client.outcomes(mixed: steps), try await server.client.send(batch)] {
      #expect(results.count == 3)
      #expect(try results[0].get() as? Int == 3)
      #expect(results[1].error?.status == 500)
      #expect(try results[2].get() as? String == "x")
    }
    let (number, broken, words) = await server.client.outcomes(Number(3), Wish("broken"), Words("x"), width: 2)
    #expect(try number.get() == 3)
    #expect(broken.error?.status == 500)
    #expect(try words.get() == "x")
    #expect(await server.leftovers().isEmpty)
  }

  @Test(arguments: [true, false]) func `late mixed outcomes fail by deadline`(isTuple: Bool) async throws {
    let server = GroupServer()
    let options = GroupOptions.deadline(.seconds(3))
    let ended = Task { () -> [APIError.Stage?] in
      if isTuple {
        let (held, number) = await server.client.outcomes(Wish("held"), Number(1), width: 1, options: options)
        return [held.error?.stage, number.error?.stage]
      }
      let steps: [any APIRequest] = [Wish("held"), Number(1)]
      return await server.client.outcomes(mixed: steps, width: 1, options: options).map { $0.error?.stage }
    }
    await server.latch.reached()
    server.clock.advance(by: .seconds(3))
    #expect(await ended.value == [.deadline, .deadline])
    #expect(await server.leftovers().isEmpty)
  }

  @Test func `cancelled batch keeps ended outcomes`() async throws {
    let server = GroupServer()
    let calls = Recorded<CallEvent>()
    server.client.configure { $0.accessories = [GroupNoter("client", Recorded(), calls: calls)] }
    let wishes = ["ok", "held", "held", "ok"].map(Wish.init)
    async let ended = server.client.outcomes(of: wishes, width: 2, options: .tag("feed"))
    await server.latch.reached(2)
    server.client.cancel(tag: "feed")
    let results = await ended
    #expect((try? results[0].get()) == "ok")
    #expect(results.dropFirst().map { $0.error?.stage } == [.cancelled, .cancelled, .cancelled])
    #expect(results[1].error?.request?.url.path == "/held/held")
    #expect(results[3].error?.request == nil, "the member was never started")
    #expect(calls.stories(of: "client").count == 3)
    #expect(await server.leftovers().isEmpty)
  }

  @Test func `late outcomes fail by deadline`() async throws {
    let server = GroupServer()
    async let ended = server.client.outcomes(
      of: ["held", "ok"].map(Wish.init), width: 1, options: .deadline(.seconds(3)))
    await server.latch.reached()
    server.clock.advance(by: .seconds(3))
    let results = await ended
    #expect(results.map { $0.error?.stage } == [.deadline, .deadline])
    for result in results {
      let text = try #require(result.error?.message)
      #expect(!text.contains("timeouts.total"), "the message must not name the time-out of the call: \(text)")
    }
  }

  // MARK: - First and at least

  @Test func `first success wins`() async throws {
    let server = GroupServer()
    server.breaks.open()
    let value = try await server.client.first(of: ["held", "broken", "ok"].map(Wish.init))
    #expect(value == "ok")
    #expect(await server.leftovers().isEmpty)
  }

  @Test func `first success of mixed members wins`() async throws {
    let server = GroupServer()
    server.breaks.open()
    let steps: [any APIRequest] = [Wish("held"), Broken(), Number(3)]
    #expect(try await server.client.first(mixed: steps) as? Int == 3)
    #expect(try await server.client.send(Batch(firstOfMixed: steps)) as? Int == 3)
    let error = try await #require(throws: APIError.self) {
      _ = try await server.client.first(mixed: [Wish("broken"), Broken()], width: 1)
    }
    #expect(error.code == .status && error.members.map(\.name) == ["Wish"])
    #expect(await server.leftovers().isEmpty)
  }

  @Test func `atLeast accepts mixed members`() async throws {
    let server = GroupServer()
    server.breaks.open()
    let steps: [any GroupStep] = [Words("x"), Wish("held"), Broken(), Batch(Number(1), Number(2))]
    for values in [
      try await server.client.atLeast(2, mixed: steps), try await server.client.send(Batch(atLeast: 2, ofMixed: steps)),
    ] {
      #expect(values.count == 2)
      #expect(values.first as? String == "x")
      #expect((values.last as? (Int, Int))?.1 == 2)
    }
    let error = try await #require(throws: APIError.self) {
      _ = try await server.client.atLeast(4, mixed: steps)
    }
    #expect(error.code == .status && error.members.map(\.name) == ["Broken"])
    #expect(await server.leftovers().isEmpty)
  }

  @Test func `later success does not replace the first`() async throws {
    let server = GroupServer()
    let stubborn = Latch()
    let early = Latch()
    let steps = [
      Waiting(latch: stubborn, isStubborn: true, value: "late"), Waiting(latch: early, value: "early"),
    ]
    async let value = server.client.first(of: steps)
    async let counted = server.client.atLeast(1, of: steps)
    await stubborn.reached(2)
    await early.reached(2)
    early.open()
    let haveEarly = await eventually {
      let groups = server.client.runningGroups
      return groups.count == 2 && groups.allSatisfy { $0.progress.finished == 1 }
    }
    #expect(haveEarly)
    stubborn.open()
    #expect(try await value == "early")
    #expect(try await counted == ["early"])
  }

  @Test func `failures alone give the first failure`() async throws {
    let server = GroupServer()
    server.breaks.open()
    let error = try await #require(throws: APIError.self) {
      _ = try await server.client.first(of: [Wish("broken"), Wish("broken")], width: 1)
    }
    #expect(error.members.map(\.index) == [0])
    #expect(error.code == .status)
  }

  @Test func `atLeast ends at its count`() async throws {
    let server = GroupServer()
    let wishes = ["held", "ok", "held", "ok"].map(Wish.init)
    #expect(try await server.client.atLeast(2, of: wishes) == ["ok", "ok"])
    let asked = server.transport.requests.count
    #expect(try await server.client.atLeast(0, of: wishes) == [])
    #expect(try await server.client.atLeast(-1, of: wishes) == [])
    #expect(server.transport.requests.count == asked, "no request is sent for zero successes")
    #expect(await server.leftovers().isEmpty)
  }

  @Test func `atLeast fails once it cannot succeed`() async throws {
    let server = GroupServer()
    server.breaks.open()
    let error = try await #require(throws: APIError.self) {
      _ = try await server.client.atLeast(3, of: ["held", "broken", "ok", "broken"].map(Wish.init))
    }
    #expect(error.code == .status)
    #expect([1, 3].contains(error.members.first?.index))
    #expect(await server.leftovers().isEmpty)
  }

  @Test func `atLeast beyond the member count fails`() async throws {
    let server = GroupServer()
    for (wanted, count, text) in [
      (3, 2, "The batch needs 3 successes, but has 2 members; require fewer successes, or add members."),
      (2, 1, "The batch needs 2 successes, but has 1 member; require fewer successes, or add members."),
      (1, 0, "The batch needs 1 success, but has no members; require fewer successes, or add members."),
    ] {
      let wishes = (0..<count).map { _ in Wish("ok") }
      let error = try await #require(throws: APIError.self) {
        _ = try await server.client.atLeast(wanted, of: wishes)
      }
      #expect(error.stage == .group && error.code == .tooFew)
      #expect(error.message == text)
    }
    await #expect(throws: APIError.self) { _ = try await server.client.first(of: [Wish]()) }
    await #expect(throws: APIError.self) { _ = try await server.client.first(mixed: []) }
    #expect(server.transport.requests.isEmpty)
  }
}
