@testable import ErrandCore
import Errand
import ErrandTesting
import TestSupport
import Testing

/// Event streams whose request has a rule for repeats. The server ends a stream that connects again.
struct RepeatedStreamTests {
  private struct Feed: APIRequest {
    typealias Response = Nothing
    let name: String
    let repeats: RepeatRule
    var path: Path { "/\(name)" }
    var overlap: Overlap { Overlap(repeats: repeats) }
  }

  private let clock = ManualClock()

  private func client(_ server: LoopbackServer) -> APIClient {
    var configuration = ClientConfiguration(baseURL: server.url)
    configuration.timers = clock
    return APIClient(configuration)
  }

  private static func event(_ data: String) -> LoopbackAnswer {
    .status(200, headers: ["Content-Type": "text/event-stream"], body: "data: \(data)\n\n")
  }

  private static func all(_ client: APIClient, _ name: String, _ rule: RepeatRule) async throws -> [String] {
    var data: [String] = []
    for try await event in client.events(of: Feed(name: name, repeats: rule)) { data.append(event.data) }
    return data
  }

  /// Waits until the only stream waits for its next connection.
  private func pauses(_ client: APIClient) async -> Bool {
    await eventually { client.registry.running.allSatisfy(\.isPause) && clock.pending == 1 }
  }

  @Test(arguments: [RepeatRule.cancelPrevious, .debounce(.seconds(1))])
  func `newer stream replaces one that waits`(_ rule: RepeatRule) async throws {
    let server = try LoopbackServer()
    server.enqueue(Self.event("a"), Self.event("b"), .status(204), .status(204))
    let client = client(server)
    let first = Task { try await Self.all(client, "a", .cancelPrevious) }
    #expect(await pauses(client))
    let second = Task { try await Self.all(client, "b", rule) }
    // The second stream has sent its request or, while it waits for the debounce pause, has ended the first one.
    #expect(await eventually { server.requests.count == 2 || !client.registry.running.contains(where: \.isPause) })
    #expect(try await clock.turning { try await second.value } == ["b"])
    let error = await #expect(throws: APIError.self) { try await first.value }
    #expect(error?.isCancelled == true && error?.message.contains("replaced it") == true)
    #expect(server.requests.map(\.target) == ["/a", "/b", "/b"])
    #expect(client.registry.repeats.count == 0)
  }

  @Test func `new stream is rejected while one waits`() async throws {
    let server = try LoopbackServer()
    server.enqueue(Self.event("a"), .status(204), .status(204))
    let client = client(server)
    let first = Task { try await Self.all(client, "a", .ignoreNew) }
    #expect(await pauses(client))
    let error = await #expect(throws: APIError.self) { try await Self.all(client, "b", .ignoreNew) }
    #expect(error?.code == .repeated)
    #expect(try await clock.turning { try await first.value } == ["a"])
    #expect(server.requests.map(\.target) == ["/a", "/a"])
    #expect(client.registry.repeats.count == 0)
  }

  @Test func `abandoned stream does not block a new one`() async throws {
    let server = try LoopbackServer()
    server.enqueue(Self.event("a"), Self.event("b"), .status(204))
    let client = client(server)
    for try await _ in client.events(of: Feed(name: "a", repeats: .ignoreNew)) { break }
    #expect(try await clock.turning { try await Self.all(client, "b", .ignoreNew) } == ["b"])
    #expect(client.registry.repeats.count == 0)
  }
}
