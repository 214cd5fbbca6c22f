import Errand
import ErrandAdapters
import ErrandTelemetry
import ErrandTesting
import Foundation
import Testing
import Tracing

struct TracingAdapterTests {
  private enum NumberKey: ServiceContextKey {
    typealias Value = Int
  }

  /// A tracer that numbers its spans and sends their numbers.
  private final class NumberTracer: Tracer {
    let spans = Guarded<[NumberSpan]>([])

    func startSpan<Instant: TracerInstant>(
      _ operationName: String, context: @autoclosure () -> ServiceContext, ofKind kind: SpanKind,
      at instant: @autoclosure () -> Instant, function: String, file fileID: String, line: UInt
    ) -> NumberSpan {
      spans.withLock { spans in
        var own = context()
        let parent = own[NumberKey.self]
        own[NumberKey.self] = spans.count + 1
        let span = NumberSpan(own, parent, operationName, kind, instant().nanosecondsSinceEpoch)
        spans.append(span)
        return span
      }
    }

    func forceFlush() {}

    func extract<Carrier, Extract>(_ carrier: Carrier, into context: inout ServiceContext, using extractor: Extract)
    where Extract: Extractor, Extract.Carrier == Carrier {}

    func inject<Carrier, Inject>(_ context: ServiceContext, into carrier: inout Carrier, using injector: Inject)
    where Inject: Injector, Inject.Carrier == Carrier {
      injector.inject("\(context[NumberKey.self] ?? 0)", forKey: "X-Span", into: &carrier)
      injector.inject("number=\(context[NumberKey.self] ?? 0)", forKey: "tracestate", into: &carrier)
      injector.inject("tenant=blue", forKey: "baggage", into: &carrier)
    }
  }

  private final class NumberSpan: Tracing.Span {
    struct State: Sendable {
      var attributes: SpanAttributes = [:]
      var isError = false
      var ended: UInt64?
    }

    let context: ServiceContext
    let parent: Int?
    let name: String
    let kind: SpanKind
    let started: UInt64
    let state = Guarded(State())

    init(_ context: ServiceContext, _ parent: Int?, _ name: String, _ kind: SpanKind, _ started: UInt64) {
      (self.context, self.parent, self.name, self.kind, self.started) = (context, parent, name, kind, started)
    }

    var number: Int? { context[NumberKey.self] }
    var operationName: String {
      get { name }
      set {}
    }
    var attributes: SpanAttributes {
      get { state.withLock { $0.attributes } }
      set { state.withLock { $0.attributes = newValue } }
    }
    var isRecording: Bool { true }

    func setStatus(_ status: SpanStatus) { state.withLock { $0.isError = status.code == .error } }
    func addEvent(_ event: SpanEvent) {}
    func recordError<Instant: TracerInstant>(
      _ error: any Error, attributes: SpanAttributes, at instant: @autoclosure () -> Instant
    ) {}
    func addLink(_ link: SpanLink) {}
    func end<Instant: TracerInstant>(at instant: @autoclosure () -> Instant) {
      let now = instant().nanosecondsSinceEpoch
      state.withLock { $0.ended = now }
    }
  }

  private func client(_ tracer: NumberTracer, _ server: LoopbackServer, _ rule: Propagation = .everywhere) -> APIClient
  {
    var configuration = ClientConfiguration(baseURL: server.url)
    var telemetry = Telemetry(tracer: tracer)
    telemetry.propagatesTo = rule
    configuration.telemetry = telemetry
    configuration.retries = RetryPolicy(attempts: 2, firstDelay: .zero, busyDelay: .zero)
    return APIClient(configuration)
  }

  @Test func `tracer makes the spans of call and attempts`() async throws {
    let server = try LoopbackServer { _ in .ok("x") }
    server.enqueue(.status(503))
    let tracer = NumberTracer()
    var context = ServiceContext.topLevel
    context[NumberKey.self] = 42
    _ = try await ServiceContext.$current.withValue(context) {
      try await client(tracer, server).get("/notes/\(7, name: "id")", as: Data.self)
    }
    let spans = tracer.spans.withLock { $0 }
    #expect(spans.map(\.name) == ["OneOff<Data>", "GET /notes/{id}", "GET /notes/{id}"])
    #expect(spans.map(\.kind) == [.internal, .client, .client])
    #expect(spans.map(\.parent) == [42, 1, 1])
    #expect(server.requests.map { $0.headers["X-Span"] } == ["2", "3"])
    #expect(spans.map { $0.state.withLock { $0.isError } } == [false, true, false])
    #expect(spans.allSatisfy { span in span.state.withLock { ($0.ended ?? 0) >= span.started } })
    #expect(spans[1].attributes.get("http.response.status_code") == .int64(503))
    #expect(spans[1].attributes.get("error.type") == .string("503"))
    #expect(spans[2].attributes.get("http.request.resend_count") == .int64(1))
  }

  @Test func `group is the parent of its members`() async throws {
    let server = try LoopbackServer { _ in .ok("x") }
    let tracer = NumberTracer()
    var context = ServiceContext.topLevel
    context[NumberKey.self] = 42
    _ = try await ServiceContext.$current.withValue(context) {
      try await client(tracer, server).chain { chain in try await chain.send(OneOff(.get, "/a", as: Data.self)) }
    }
    let spans = tracer.spans.withLock { $0 }
    #expect(spans.map(\.name) == ["chain", "OneOff<Data>", "GET /a"])
    #expect(spans.map(\.parent) == [42, 1, 2])
    #expect(spans.allSatisfy { span in span.state.withLock { ($0.ended ?? 0) >= span.started } })
  }

  @Test func `rule and fields of the request apply`() async throws {
    let server = try LoopbackServer { _ in .ok("x") }
    let tracer = NumberTracer()
    _ = try await client(tracer, server, .nowhere).get("/a", as: Data.self)
    _ = try await client(tracer, server).get("/b", as: Data.self, headers: ["x-span": "own"])
    _ = try await client(tracer, server).get("/c", as: Data.self, headers: ["tracestate": "own=1", "baggage": "own=1"])
    #expect(server.requests.map { $0.headers["X-Span"] } == [nil, "own", "6"])
    #expect(server.requests.map { $0.headers.values("tracestate") } == [[], [], ["number=6"]])
    #expect(server.requests.map { $0.headers.values("baggage") } == [[], ["tenant=blue"], ["own=1"]])
    #expect(tracer.spans.withLock { $0.count } == 6)
  }
}
