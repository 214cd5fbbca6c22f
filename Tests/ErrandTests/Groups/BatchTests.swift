import Errand
import ErrandTesting
import Foundation
import Testing

/// What a batch gives, and how it ends early.
@Suite(.timeLimit(.minutes(5))) struct BatchTests {
  @Test func `tuple keeps its types`() async throws {
    let server = GroupServer()
    let (text, data, number) = try await server.client.batch(Words("a"), Bytes("b"), Number(7))
    let typed: (String, Data, Int) = (text, data, number)
    #expect(typed.0 == "a" && typed.1 == Data("b".utf8) && typed.2 == 7)
  }

  @Test func `array keeps its order`() async throws {
    let server = GroupServer()
    let numbers = try await server.client.batch((0..<50).map { Number($0) }, width: 7)
    #expect(numbers == Array(0..<50))
  }

  @Test func `mixed list keeps its order`() async throws {
    let server = GroupServer()
    let requests: [any APIRequest] = [Number(3), Words("x"), Bytes("y")]
    let values = try await server.client.batch(mixed: requests)
    #expect(values[0] as? Int == 3 && values[1] as? String == "x" && values[2] as? Data == Data("y".utf8))
  }

  @Test func `empty batch completes at once`() async throws {
    let server = GroupServer()
    #expect(try await server.client.batch([Number]()) == [])
    #expect(await server.client.outcomes(of: [Number]()).isEmpty)
    try await server.client.batch()
    #expect(server.transport.requests.isEmpty)
  }

  @Test func `first failure cancels the rest`() async throws {
    let server = GroupServer()
    let slow = Words("slow", latch: true)
    async let ended = server.client.outcome(of: Batch(slow, Number(1), Words("slower", latch: true), Broken()))
    await server.latch.reached(2)
    server.breaks.open()
    let outcome = await ended
    let error = try #require(outcome.error)
    #expect(error.code == .status)
    #expect(error.members.map(\.index) == [3])
    #expect(error.members.first?.name == "Broken")
    #expect("\(error)".hasSuffix("(member 4 of the batch, Broken)"))
    #expect(
      outcome.report.entries.map { "\($0.state)" }.sorted() == [
        "cancelled", "cancelled", "failed: status 500", "network",
      ])
    #expect(await eventually { server.client.running.isEmpty })
  }

  @Test func `chain runs step by step`() async throws {
    let server = GroupServer()
    let welcome = try await server.client.chain { chain in
      let id = try await chain.send(Number(5))
      async let words = chain.send(Words("five"))
      async let bytes = chain.send(Bytes("\(id)"))
      return try await chain.send(Words("\(words)\(String(decoding: bytes, as: UTF8.self))"))
    }
    #expect(welcome == "five5")
  }

  @MainActor @Test func `started batch calls back once`() async {
    let server = GroupServer()
    let ended = Latch()
    let got = Recorded<String>()
    server.client.start(Batch(Words("a"), Number(2))) { words, number in
      got.append("\(words)\(number)")
      ended.open()
    }
    await ended.waitStubbornly()
    #expect(got.all == ["a2"])
  }

  @MainActor @Test func `steps call back in turn`() async {
    let server = GroupServer()
    let ended = Latch()
    let got = Recorded<String>()
    var chain = StepChain()
    chain.add(Number(2)) { number, chain in
      got.append("\(number)")
      chain.add(Batch(Number(number + 1), Words("x"))) { values, _ in got.append("\(values.0)\(values.1)") }
    }
    server.client.start(outcomeOf: chain) { outcome in
      got.append("\(outcome.value?.first(Int.self) ?? 0)")
      print(outcome.report)
      ended.open()
    }
    await ended.waitStubbornly()
    #expect(got.all == ["2", "3x", "2"])
  }
}
