import Errand
import ErrandTesting
import Foundation
import Testing
import TestSupport

/// Batches and chains over a real socket.
struct GroupSocketTests {
  private struct Answer: Decodable, Sendable, Equatable {
    let id: Int
    let next: String
  }

  private struct Step: APIRequest {
    typealias Response = Answer
    let name: String
    var path: Path { "/step/\(name)" }
  }

  private struct Picture: APIRequest {
    let name: String
    var path: Path { "/pictures/\(name)" }
  }

  private static func answer(_ request: RecordedRequest) -> LoopbackAnswer {
    switch request.path {
    case "/step/a": .json(#"{"id":1,"next":"b"}"#)
    case "/step/b": .json(#"{"id":2,"next":"d"}"#)
    case "/step/c": .json(#"{"id":3,"next":"d"}"#)
    case "/step/d": .json(#"{"id":4,"next":""}"#)
    case "/pictures/lost": .status(404, body: "lost")
    default: .ok(request.path)
    }
  }

  @Test func `one of four members fails`() async throws {
    let server = try LoopbackServer(handler: Self.answer)
    let client = APIClient(baseURL: server.url)
    let names = ["one", "two", "lost", "four"]
    let results = await client.outcomes(of: names.map(Picture.init))
    #expect(
      results.map { (try? $0.get()).map { String(decoding: $0, as: UTF8.self) } ?? "-" }
        == ["/pictures/one", "/pictures/two", "-", "/pictures/four"])
    let error = try await #require(throws: APIError.self) {
      _ = try await client.batch(Step(name: "a"), Picture(name: "one"), Picture(name: "lost"), Picture(name: "two"))
    }
    #expect(error.status == 404)
    #expect(error.members.map(\.index) == [2])
    #expect("\(error)".hasSuffix("(member 3 of the batch, Picture)"))
    #expect(await eventually { client.running.isEmpty })
  }

  @Test func `empty batch opens no connection`() async throws {
    let server = try LoopbackServer(handler: Self.answer)
    let client = APIClient(baseURL: server.url)
    #expect(try await client.batch([Step]()) == [])
    #expect(await client.outcomes(of: [Step]()).isEmpty)
    #expect(try await client.send(Step(name: "a")).id == 1)
    #expect(server.connectionCount == 1 && server.requests.count == 1)
  }

  @Test func `chain branches over sockets`() async throws {
    let server = try LoopbackServer(handler: Self.answer)
    let client = APIClient(baseURL: server.url)
    let outcome = await client.outcome(
      of: Chain { chain in
        let a = try await chain.send(Step(name: "a"))
        async let b = chain.send(Step(name: a.next))
        async let c = chain.send(Step(name: "c"))
        let joined = try await (b, c)
        guard joined.0.next == joined.1.next else { return joined.0 }
        return try await chain.send(Step(name: joined.0.next))
      })
    #expect(outcome.value == Answer(id: 4, next: ""))
    let paths = server.requests.map(\.path)
    #expect(paths.first == "/step/a" && Set(paths[1...2]) == ["/step/b", "/step/c"] && paths.last == "/step/d")
    #expect(outcome.report.entries.map { "\($0.state)" } == ["network", "network", "network", "network"])
  }

  @Test func `step chain adds steps from responses`() async throws {
    let server = try LoopbackServer(handler: Self.answer)
    let client = APIClient(baseURL: server.url)
    let asked = Recorded<Int>()
    var chain = StepChain("letters")
    chain.add(Step(name: "a")) { a, chain in
      asked.append(server.requests.count)
      chain.add(Step(name: a.next)) { b, chain in
        asked.append(server.requests.count)
        chain.add(Batch(Step(name: b.next), Picture(name: "lost")))
      }
    }
    chain.add(Picture(name: "one"))
    let outcome = await client.outcome(of: chain)
    #expect(outcome.error?.status == 404)
    #expect(asked.all == [1, 3], "each callback runs before the next step")
    let paths = server.requests.map(\.path)
    #expect(paths.prefix(3) == ["/step/a", "/pictures/one", "/step/b"])
    #expect(paths.last == "/pictures/lost" || paths.last == "/step/d")
    #expect(outcome.report.entries.map { $0.report != nil } == [false, false, false, true])
    #expect(await eventually { client.running.isEmpty })
  }

  @Test(arguments: ["batch", "chain"]) func `cancel closes the connections`(_ form: String) async throws {
    let gate = Gate()
    let server = try LoopbackServer { _ in .ok("late").held(at: gate) }
    let client = APIClient(baseURL: server.url)
    let pictures = (0..<4).map { Picture(name: "\($0)") }
    let ended = Latch()
    let told = Recorded<APIError.Stage?>()
    let call: GroupCall
    if form == "batch" {
      call = client.start(outcomeOf: Batch(pictures), on: .queue(.global())) {
        told.append($0.error?.stage)
        ended.open()
      }
    } else {
      call = client.start(outcomeOf: Chain { try await $0.batch(pictures) }, on: .queue(.global())) {
        told.append($0.error?.stage)
        ended.open()
      }
    }
    try await gate.reached(times: 4)
    #expect(server.openConnectionCount == 4)
    call.cancel()
    await ended.waitStubbornly()
    try await server.wait { $0.openConnectionCount == 0 }
    #expect(told.all == [.cancelled])
    #expect(await eventually { client.running.isEmpty && client.admission == (0, 0) })
  }

  @Test func `deadline closes the connections`() async throws {
    let (gate, clock) = (Gate(), ManualClock())
    let server = try LoopbackServer { _ in .ok("late").stalled(until: gate) }
    let client = APIClient(baseURL: server.url)
    client.configure { $0.timers = clock }
    async let error = #expect(throws: APIError.self) {
      _ = try await client.batch(
        (0..<3).map { Picture(name: "\($0)") }, options: .deadline(.milliseconds(50)))
    }
    try await gate.reached(times: 3)
    #expect(server.openConnectionCount == 3)
    clock.advance(by: .milliseconds(50))
    #expect(await error?.stage == .deadline)
    try await server.wait { $0.openConnectionCount == 0 }
  }
}
