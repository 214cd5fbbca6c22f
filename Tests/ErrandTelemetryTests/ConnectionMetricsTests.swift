import Errand
import ErrandTelemetry
import ErrandTesting
import Foundation
import Testing

/// The metrics of connections, with the transports that manage their connections themselves.
struct ConnectionMetricsTests {
  private static let transports = ["engine", "curl"]

  private func fixture(
    _ transport: String, _ handler: @escaping @Sendable (RecordedRequest) -> LoopbackAnswer = { _ in .ok("x") }
  ) throws -> TelemetryFixture {
    try TelemetryFixture(handler, client: { $0.transport = .named(transport) })
  }

  /// The changes of the number of open connections, in their order, such as `active +1`.
  private func changes(_ fixture: TelemetryFixture) -> [String] {
    fixture.collected.values(of: .openConnections).map { value in
      "\(value.attributes["http.connection.state"]?.text ?? "") \(value.value > 0 ? "+" : "")\(Int(value.value))"
    }
  }

  private func base(_ fixture: TelemetryFixture) -> Attributes {
    ["server.address": "127.0.0.1", "server.port": .int(Int64(fixture.server.port)), "url.scheme": "http"]
  }

  @Test(arguments: transports)
  func `connection is active and then idle`(transport: String) async throws {
    let fixture = try fixture(transport)
    for id in 1...2 { _ = try await fixture.client.send(GetNote(id: id)) }
    let once = ["active +1", "active -1", "idle +1"]
    #expect(changes(fixture) == once + ["idle -1"] + once)
    for value in fixture.collected.values(of: .openConnections) {
      #expect(value.attributes.filter { $0.key != "http.connection.state" } == base(fixture))
    }
    #expect(fixture.collected.values(of: .connectionDuration).isEmpty)
  }

  @Test(arguments: transports)
  func `closed connection is measured`(transport: String) async throws {
    let fixture = try fixture(transport) { _ in
      .raw("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok", thenCloses: true)
    }
    for id in 1...2 { _ = try await fixture.client.send(GetNote(id: id)) }
    #expect(await until { fixture.collected.values(of: .connectionDuration).count == 2 })
    let durations = fixture.collected.values(of: .connectionDuration)
    #expect(durations.allSatisfy { (0...30).contains($0.value) && $0.attributes == base(fixture) })
    #expect(changes(fixture).filter { $0.hasPrefix("active") } == ["active +1", "active -1", "active +1", "active -1"])
    #expect(fixture.collected.values(of: .openConnections).reduce(0) { $0 + $1.value } == 0)
  }

  @Test func `idle connection ends with its server`() async throws {
    let fixture = try fixture("engine")
    _ = try await fixture.client.send(GetNote())
    fixture.server.stop()
    #expect(await until { fixture.collected.values(of: .connectionDuration).count == 1 })
    #expect(changes(fixture) == ["active +1", "active -1", "idle +1", "idle -1"])
  }

  @Test(arguments: transports)
  func `refused connection is not counted`(transport: String) async throws {
    let fixture = try fixture(transport)
    fixture.server.stop()
    await #expect(throws: APIError.self) { _ = try await fixture.client.send(GetNote()) }
    #expect(fixture.collected.values(of: .openConnections).isEmpty)
  }
}
