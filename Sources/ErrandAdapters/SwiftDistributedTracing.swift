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
      var fields = HTTPFields()
      tracer.inject(span.context, into: &fields, using: FieldInjector())
      request.add(fields)
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

  private struct FieldInjector: Injector {
    func inject(_ value: String, forKey key: String, into fields: inout HTTPFields) {
      fields.append(HTTPField(HTTPFieldName(key), value))
    }
  }

  extension HTTPRequest {
    /// Adds the fields of a tracer. If the request has one of the fields that identify a span, it gets none of them, and
    /// no `tracestate`: fields of two spans must not be mixed. A `baggage` that it has stays as it is.
    fileprivate mutating func add(_ new: HTTPFields) {
      let context = new.all.filter { $0.name != "baggage" }
      if !context.contains(where: { $0.name != "tracestate" && fields.contains($0.name) }) {
        // Without an identity of its own, a `tracestate` of the request belongs to no span.
        if !context.isEmpty { fields.remove("tracestate") }
        for field in context { fields.append(field) }
      }
      if let baggage = new["baggage"], !fields.contains("baggage") { fields.append(HTTPField("baggage", baggage)) }
    }
  }

  /// A time that is already known.
  private struct Instant: TracerInstant {
    let nanosecondsSinceEpoch: UInt64

    static func < (left: Instant, right: Instant) -> Bool { left.nanosecondsSinceEpoch < right.nanosecondsSinceEpoch }
  }
#endif
