import CoreMetrics
import Errand
import ErrandAdapters
import ErrandTelemetry
import ErrandTesting
import Foundation
import Testing

struct MetricsAdapterTests {
  /// A factory that keeps the values of all instruments.
  private final class Factory: MetricsFactory {
    struct Value: Sendable, Equatable {
      let label: String
      let dimensions: [String]
      let value: Double
    }

    let values = Guarded<[Value]>([])
    let meters = Guarded(0)

    func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
      Handler(self, label, dimensions)
    }
    func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
      meters.withLock { $0 += 1 }
      return Handler(self, label, dimensions)
    }
    func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
      Handler(self, label, dimensions)
    }
    func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
      Handler(self, label, dimensions)
    }
    func destroyCounter(_ handler: any CounterHandler) {}
    func destroyMeter(_ handler: any MeterHandler) {}
    func destroyRecorder(_ handler: any RecorderHandler) {}
    func destroyTimer(_ handler: any TimerHandler) {}
  }

  private final class Handler: CounterHandler, MeterHandler, RecorderHandler, TimerHandler {
    let factory: Factory
    let label: String
    let dimensions: [String]

    init(_ factory: Factory, _ label: String, _ dimensions: [(String, String)]) {
      (self.factory, self.label, self.dimensions) = (factory, label, dimensions.map { "\($0)=\($1)" })
    }

    func add(_ value: Double) {
      factory.values.withLock { $0.append(.init(label: label, dimensions: dimensions, value: value)) }
    }
    func increment(by amount: Int64) { add(Double(amount)) }
    func reset() {}
    func set(_ value: Int64) { add(Double(value)) }
    func set(_ value: Double) { add(value) }
    func increment(by amount: Double) { add(amount) }
    func decrement(by amount: Double) { add(-amount) }
    func record(_ value: Int64) { add(Double(value)) }
    func record(_ value: Double) { add(value) }
    func recordNanoseconds(_ duration: Int64) { add(Double(duration)) }
  }

  @Test func `attempts become timers and meters`() async throws {
    let server = try LoopbackServer { _ in .ok("x") }
    let factory = Factory()
    var configuration = ClientConfiguration(baseURL: server.url)
    configuration.telemetry = Telemetry(metrics: SwiftMetricsRecorder(factory: factory))
    let client = APIClient(configuration)
    for _ in 0..<2 { _ = try await client.get("/notes/\(7)", as: Data.self) }
    let values = factory.values.withLock { $0 }
    let active = values.filter { $0.label == "http.client.active_requests" }
    #expect(active.map(\.value) == [1, -1, 1, -1])
    // One of requests, and those of active and of idle connections.
    #expect(factory.meters.withLock { $0 } == 3)
    #expect(
      active.first?.dimensions == [
        "http.request.method=GET", "server.address=127.0.0.1", "server.port=\(server.port)", "url.template=/notes/{1}",
      ])
    let durations = values.filter { $0.label == "http.client.request.duration" }
    #expect(durations.count == 2)
    #expect(durations.allSatisfy { $0.value > 0 && $0.value < 30e9 })
    #expect(durations.first?.dimensions.contains("http.response.status_code=200") == true)
  }

  @Test func `histogram without a time is a recorder`() {
    let factory = Factory()
    let recorder = SwiftMetricsRecorder(factory: factory)
    recorder.record(
      42, Instrument(name: "size", unit: "By", summary: "", kind: .histogram([1])), ["a": true, "b": .double(0.5)])
    #expect(factory.values.withLock { $0 } == [.init(label: "size", dimensions: ["a=true", "b=0.5"], value: 42)])
  }
}
