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
