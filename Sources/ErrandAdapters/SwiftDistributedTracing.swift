#if SwiftDistributedTracing
  import ErrandCore
  import ErrandHTTP
  public import ErrandTelemetry
  public import Tracing

  extension Telemetry {
    /// Makes telemetry whose spans a tracer of swift-distributed-tracing makes. The parent of a call or
    /// a group is `ServiceContext.current` of the task that starts it, and the tracer decides about sampling and about the header
    /// fields that each attempt sends; ``propagatesTo`` still decides which servers receive them. The rule
    /// ``sharesBaggageWith`` knows only the fields `baggage` and `tracestate`, not those of other formats.
    ///
    /// ```swift
    /// configuration.telemetry = Telemetry(tracer: InstrumentationSystem.tracer)
    /// ```
    public init(tracer: some Tracer, metrics: (any MetricRecorder)? = nil) {
      self.init(metrics: metrics)
      source = TracerSpans(tracer: tracer)
    }
  }

  /// Starts spans of a tracer.
  private struct TracerSpans<Source: Tracer>: SpanSource {
    let tracer: Source

    func start(
      _ name: String, _ kind: ErrandTelemetry.Span.Kind, in parent: (any RunningSpan)?, at time: UInt64
    ) -> (any RunningSpan)? {
      let context = (parent as? TracerSpan<Source>)?.span.context ?? ServiceContext.current ?? .topLevel
      let span = tracer.startSpan(
        name, context: context, ofKind: kind == .client ? .client : .internal, at: Instant(nanosecondsSinceEpoch: time))
      return TracerSpan(tracer: tracer, span: span)
    }
  }

  private struct TracerSpan<Source: Tracer>: RunningSpan {
    let tracer: Source
    let span: Source.Span

    func inject(into request: inout HTTPRequest) {
      tracer.inject(span.context, into: &request, using: RequestInjector())
    }

    func during<Value>(_ work: () async -> Value) async -> Value {
      await ServiceContext.$current.withValue(span.context) { await work() }
    }

    func end(_ attributes: Attributes, _ status: ErrandTelemetry.Span.Status, at time: UInt64) {
      span.updateAttributes { result in
        for (name, value) in attributes {
          switch value {
          case .string(let text): result.set(name, value: .string(text))
          case .int(let number): result.set(name, value: .int64(number))
          case .double(let number): result.set(name, value: .double(number))
          case .bool(let flag): result.set(name, value: .bool(flag))
          }
        }
      }
      if status == .error { span.setStatus(SpanStatus(code: .error)) }
      span.end(at: Instant(nanosecondsSinceEpoch: time))
    }
  }

  /// Adds fields to a request, except those that it already has.
  private struct RequestInjector: Injector {
    func inject(_ value: String, forKey key: String, into request: inout HTTPRequest) {
      let name = HTTPFieldName(key)
      if !request.fields.contains(name) { request.fields.append(HTTPField(name, value)) }
    }
  }

  /// A time that is already known.
  private struct Instant: TracerInstant {
    let nanosecondsSinceEpoch: UInt64

    static func < (left: Instant, right: Instant) -> Bool { left.nanosecondsSinceEpoch < right.nanosecondsSinceEpoch }
  }
#endif
