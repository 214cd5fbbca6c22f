import Errand
import ErrandCore
import ErrandHTTP
import ErrandTesting
import Foundation
import Testing
import TestSupport

/// Which response bodies a record contains.
struct FlightBodyTests {
  private struct Drain: BodySink {
    func begin(_ head: ResponseHead, flow: BodyFlow) -> BodyDisposition { .sink }
    func write(_ piece: UnsafeRawBufferPointer) -> Bool { true }
    func end() {}
  }

  private func configuration(_ server: LoopbackServer) -> ClientConfiguration {
    var configuration = ClientConfiguration(baseURL: server.url)
    configuration.record = .ring(calls: 5, detail: .everything, bodyLimit: 100)
    return configuration
  }

  /// The texts of the response bodies of the last call, as the record and as its HTTP archive contain them.
  private func bodies(_ record: FlightRecord) throws -> [[String?]] {
    let call = try #require(record.calls.last)
    let entries = try #require(try JSONValue(parsing: record.har())["log"]?["entries"]?.arrayValue)
    return [
      call.exchanges.map(\.responseBody), entries.map { $0["response"]?["content"]?["text"]?.stringValue },
    ]
  }

  @Test(arguments: [200, 400]) func `only a rejected body of a sink is recorded`(status: Int) async throws {
    let server = try LoopbackServer { _ in .status(status, body: "pong") }
    let client = APIClient(configuration(server))
    _ = await client.outcome(of: Sending(), options: CallOptions(bodySink: Drain()))
    let body = status == 200 ? nil : "pong"
    #expect(try bodies(client.flightRecord) == [[body], [body]])
  }

  @Test func `streamed body is not recorded`() async throws {
    let server = try LoopbackServer { _ in .ok("pong") }
    let client = APIClient(configuration(server))
    for try await _ in try await client.stream(Sending()) {}
    #expect(await eventually { !client.flightRecord.calls.isEmpty })
    #expect(try bodies(client.flightRecord) == [[nil], [nil]])
  }

  @Test func `dropped body of a redirect is not recorded`() async throws {
    let server = try LoopbackServer {
      $0.path == "/p" ? .status(302, headers: ["Location": "/there"], body: "moved") : .ok("pong")
    }
    let client = APIClient(configuration(server))
    _ = try await client.send(FlightFixture.Get(path: "/p"))
    #expect(try bodies(client.flightRecord) == [[nil, "pong"], [nil, "pong"]])
  }

  @Test func `empty body is recorded as empty`() async throws {
    let server = try LoopbackServer { _ in .status(200) }
    let client = APIClient(configuration(server))
    _ = try await client.send(Sending())
    #expect(try bodies(client.flightRecord) == [[""], [""]])
  }
}
