package import ErrandHTTP

/// Starts spans. ``Telemetry`` has one that samples and exports; adapters for other tracing libraries have their own.
package protocol SpanSource: Sendable {
  /// Starts a span in the task that starts the work.
  ///
  /// - Parameters:
  ///   - parent: The span that causes the new one; nil for a call or a group, whose parent is that of the current task.
  ///   - time: The start, in nanoseconds since 1970.
  /// - Returns: The running span; nil if neither a span nor a context exists.
  func start(_ name: String, _ kind: Span.Kind, in parent: (any RunningSpan)?, at time: UInt64) -> (any RunningSpan)?
}

/// A span that has not ended.
package protocol RunningSpan: Sendable {
  /// Adds the context of the span to a request, and the baggage of the task that started the call.
  func inject(into request: inout HTTPRequest)
  /// Runs work on the caller's executor. In its tasks, the span is the parent of the calls and groups that start.
  func during<Value>(_ work: () async -> Value) async -> Value
  /// Ends the span. Called once.
  func end(_ attributes: Attributes, _ status: Span.Status, at time: UInt64)
}

/// The source of the spans that a ``SpanExporter`` receives. Without an exporter, no span is made: the context of the
/// current task is passed on unchanged, because no one would ever receive a span with another id.
struct ExportedSpans: SpanSource {
  let exporter: (any SpanExporter)?
  let sampler: Sampler

  func start(_ name: String, _ kind: Span.Kind, in parent: (any RunningSpan)?, at time: UInt64) -> (any RunningSpan)? {
    let parent = parent as? ExportedSpan
    let (current, baggage) = parent.map { ($0.context, $0.baggage) } ?? (TraceContext.current, Baggage.current)
    guard exporter != nil else {
      if current == nil, baggage == nil { return nil }
      return ExportedSpan(
        source: self, name: name, kind: kind, context: current, parent: nil, baggage: baggage, begun: time)
    }
    let root = current ?? .root()
    let isSampled = parent == nil ? sampler.samples(root.traceID, parent: current) : root.isSampled
    return ExportedSpan(
      source: self, name: name, kind: kind, context: root.child(isSampled: isSampled), parent: current?.spanID,
      baggage: baggage, begun: time)
  }
}

private struct ExportedSpan: RunningSpan {
  let source: ExportedSpans
  let name: String
  let kind: Span.Kind
  /// Nil if the task has only baggage.
  let context: TraceContext?
  let parent: SpanID?
  let baggage: Baggage?
  let begun: UInt64

  func inject(into request: inout HTTPRequest) { request.add(context, baggage) }

  func during<Value>(_ work: () async -> Value) async -> Value {
    guard let context else { return await work() }
    return await TraceContext.$current.withValue(context) { await work() }
  }

  func end(_ attributes: Attributes, _ status: Span.Status, at time: UInt64) {
    guard let exporter = source.exporter, let context, context.isSampled else { return }
    exporter.export(
      Span(
        name: name, kind: kind, context: context, parent: parent, start: begun, end: time, attributes: attributes,
        status: status))
  }
}

/// Decides which traces are recorded. The decision is made once for each call; its attempts follow it.
public indirect enum Sampler: Sendable, Hashable {
  /// Every trace is recorded.
  case always
  /// No trace is recorded. The trace context is still sent, with the flag `sampled` off.
  case never
  /// A share of all traces is recorded, from 0 to 1. The decision depends only on the identity of the trace, so that all
  /// services with the same ratio record the same traces.
  case ratio(Double)
  /// The decision of the parent applies. A call without a parent asks the other sampler.
  case parent(orElse: Sampler)

  /// Whether a call is recorded.
  ///
  /// - Parameters:
  ///   - parent: The context of the task that started the call; nil if there is none.
  ///   - traceID: The trace of the call.
  public func samples(_ traceID: TraceID, parent: TraceContext?) -> Bool {
    switch self {
    case .always: true
    case .never: false
    case .ratio(let ratio): traceID.low & Self.randomBits >= Self.threshold(ratio)
    case .parent(let other): parent?.isSampled ?? other.samples(traceID, parent: nil)
    }
  }

  /// The 7 rightmost bytes of a trace's identity, which are random (W3C Trace Context Level 2, section 3.2.2.3).
  private static let randomBits: UInt64 = 1 << 56 - 1

  /// The smallest random number that is sampled: the rejection threshold of OpenTelemetry's consistent sampling.
  private static func threshold(_ ratio: Double) -> UInt64 {
    guard ratio > 0 else { return .max }
    return UInt64((1 - min(ratio, 1)) * 0x1p56)
  }
}
