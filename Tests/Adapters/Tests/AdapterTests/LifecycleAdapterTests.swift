import Errand
import ErrandAdapters
import ErrandTelemetry
import ErrandTesting
import ServiceLifecycle
import ServiceLifecycleTestKit
import Testing

struct LifecycleAdapterTests {
  private func exporter(_ server: LoopbackServer) -> OTLPExporter {
    let exporter = OTLPExporter(endpoint: server.url)
    exporter.export(Span(name: "x", kind: .client, context: .root(), parent: nil, start: 1, end: 2))
    return exporter
  }

  @Test func `graceful shutdown sends what waits`() async throws {
    let server = try LoopbackServer { _ in .json("{}") }
    let exporter = exporter(server)
    try await testGracefulShutdown { trigger in
      async let run: Void = ExporterService(exporter).run()
      trigger.triggerGracefulShutdown()
      try await run
    }
    #expect(exporter.counts.exported == 1)
    exporter.export(Span(name: "y", kind: .client, context: .root(), parent: nil, start: 1, end: 2))
    #expect(exporter.counts.dropped == 1)
  }

  @Test func `cancellation sends what waits`() async throws {
    let server = try LoopbackServer { _ in .json("{}") }
    let exporter = exporter(server)
    let task = Task { try await ExporterService(exporter).run() }
    task.cancel()
    try await task.value
    #expect(exporter.counts.exported == 1)
  }

  @Test func `client drains at graceful shutdown`() async throws {
    let client = APIClient(baseURL: "http://api.example")
    try await testGracefulShutdown { trigger in
      async let run: Void = ClientService(client, within: .zero).run()
      trigger.triggerGracefulShutdown()
      try await run
    }
    #expect(client.isDraining)
  }
}
