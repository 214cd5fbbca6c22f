public import ErrandCore
import ErrandHTTP
import Foundation

/// Traces the calls of a client and measures their attempts. Set it in ``ErrandCore/ClientConfiguration/telemetry``.
///
/// ```swift
/// let exporter = OTLPExporter(endpoint: "http://localhost:4318", resource: ["service.name": "notes"])
/// configuration.telemetry = Telemetry(spans: exporter, metrics: exporter)
/// ```
///
/// Each call has an internal span with the name of its request type, and each attempt a client span below it, with the
/// names and attributes of OpenTelemetry's semantic conventions for HTTP, version 1.44.0. An attempt is one exchange with a
/// server: the first, a retry, a redirect, or the second copy of a hedged request. A call that the cache serves has no
/// client span. Calls with the same request that share an exchange have their own spans; the client span is below the
/// call that started the exchange. A batch or a chain has an internal span with its name, which is the parent of the
/// calls and groups in it.
///
/// Spans contain no header fields, no bodies and no error messages; see ``query`` for URLs.
public struct Telemetry: Sendable {
  /// Receives the spans that have ended and are sampled; nil for none. Without it, the context of the current task is
  /// sent unchanged.
  public var spans: (any SpanExporter)?
  /// Receives the measurements; nil for none.
  public var metrics: (any MetricRecorder)?
  /// Decides which calls are recorded. By default the parent decides, and calls without a parent are recorded.
  public var sampler = Sampler.parent(orElse: .always)
  /// The servers that receive the trace context, with or without baggage; by default all. From requests to all others
  /// the fields `traceparent`, `tracestate` and `baggage` are removed, even if the app has set them. The rule also
  /// applies to the targets of redirects.
  public var propagatesTo = Propagation.everywhere
  /// The servers among those of ``propagatesTo`` that also receive `baggage` and `tracestate`, whose values may be
  /// personal; by default only the origin of the call's first request. The others receive only `traceparent`, which is
  /// random.
  public var sharesBaggageWith = Propagation.firstOrigin
  /// How much of a query is recorded in `url.full`; by default only names.
  public var query = QueryDetail.names
  /// Whether the attribute `user_agent.original` is recorded; by default not.
  public var recordsUserAgent = false
  /// Returns the template of a request's path, such as `/notes/{id}`, which has few different values; nil for none. By
  /// default it is ``ErrandCore/RequestPath/template``.
  public var template: @Sendable (any APIRequest) -> String? = { HTTPConventions.template(of: $0.path) }
  /// The methods that are recorded by their names, with regard to case. All others are recorded as `_OTHER`.
  public var knownMethods = Self.standardMethods
  /// The wall clock, in nanoseconds since 1970. It is read once for each call and group. Tests set their own.
  public var clock: @Sendable () -> UInt64 = WallClock.nanoseconds
  /// Starts the spans of another tracing library instead of ``spans``.
  package var source: (any SpanSource)?

  /// How much of a URL's query is recorded. Credentials in a URL are never recorded.
  public enum QueryDetail: Sendable, Hashable {
    /// The names; each value is replaced by `REDACTED`.
    case names
    /// Names and values. The values of signatures that OpenTelemetry's conventions list, and of names that suggest a
    /// secret such as `token` or `code`, are replaced by `REDACTED`.
    case values
  }

  /// The methods of RFC 9110, and PATCH and QUERY.
  public static let standardMethods: Set<String> = [
    "CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "QUERY", "TRACE",
  ]

  /// Makes the settings. Set the other properties afterwards.
  public init(spans: (any SpanExporter)? = nil, metrics: (any MetricRecorder)? = nil) {
    (self.spans, self.metrics) = (spans, metrics)
  }
}

extension ClientConfiguration {
  /// Traces and measures the calls of the client; nil, the default, for neither.
  public var telemetry: Telemetry? {
    get { (tracer as? TelemetryTracer)?.telemetry }
    set { tracer = newValue.map(TelemetryTracer.init) }
  }
}

/// Follows calls for a ``Telemetry``.
struct TelemetryTracer: CallTracer {
  let telemetry: Telemetry
  let source: any SpanSource
  let conventions: HTTPConventions

  init(_ telemetry: Telemetry) {
    self.telemetry = telemetry
    source =
      telemetry.source
      ?? ExportedSpans(exporter: telemetry.spans, sampler: telemetry.sampler)
    conventions = HTTPConventions(
      knownMethods: telemetry.knownMethods, query: telemetry.query, recordsUserAgent: telemetry.recordsUserAgent)
  }

  func begin(_ call: CallInfo, _ timers: any Timers) -> (any CallTrace)? {
    let clock = CallClock(wall: telemetry.clock(), begun: timers.now, timers: timers)
    // A call without span and measurements is followed, too, because fields may have to be removed from its requests.
    return TelemetryCall(self, call, clock, source.start(call.name, .internal, in: nil, at: clock.wall))
  }

  func begin(_ group: GroupInfo, _ timers: any Timers) -> (any GroupTrace)? {
    let clock = CallClock(wall: telemetry.clock(), begun: timers.now, timers: timers)
    guard let span = source.start(group.name, .internal, in: nil, at: clock.wall) else { return nil }
    return TelemetryGroup(clock: clock, span: span)
  }
}

/// The wall clock of one call or group: it is read once, and the monotonic clock of the call is added to it.
struct CallClock: Sendable {
  let wall: UInt64
  let begun: MonotonicInstant
  let timers: any Timers

  /// The present, in nanoseconds since 1970; the largest number after 2554, so that no span ends before its start.
  func time(at instant: MonotonicInstant) -> UInt64 {
    let passed = max(begun.duration(to: instant).clampedNanoseconds, 0)
    let sum = wall.addingReportingOverflow(UInt64(passed))
    return sum.overflow ? .max : sum.partialValue
  }
}

/// The wall clock of the system.
enum WallClock {
  /// The time since 1970 in nanoseconds. Zero before 1970, and the largest number after 2554.
  static let nanoseconds: @Sendable () -> UInt64 = {
    UInt64(exactly: (max(Date().timeIntervalSince1970, 0) * 1e9).rounded(.down)) ?? .max
  }
}
