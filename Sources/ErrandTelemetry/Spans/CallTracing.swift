import ErrandCore
import ErrandHTTP
import ErrandSupport

/// Follows one call: its span, and the number of requests that it has sent.
final class TelemetryCall: CallTrace {
  let tracer: TelemetryTracer
  let clock: CallClock
  private let call: CallInfo
  private let span: (any RunningSpan)?
  private let template: String?
  private let sends = Locked(0)

  init(_ tracer: TelemetryTracer, _ call: CallInfo, _ clock: CallClock, _ span: (any RunningSpan)?) {
    (self.tracer, self.call, self.clock, self.span) = (tracer, call, clock, span)
    template = tracer.telemetry.template(call.request)
  }

  func begin(_ request: inout HTTPRequest, isFirstOrigin: Bool) -> (any ExchangeTrace)? {
    guard span != nil || tracer.telemetry.metrics != nil else {
      propagate(nil, in: &request, isFirstOrigin)
      return nil
    }
    let resends = countSend()
    let begun = clock.timers.now
    let exchange = span.flatMap { span in
      tracer.source.start(
        tracer.conventions.name(request.method, template), .client, in: span, at: clock.time(at: begun))
    }
    propagate(exchange, in: &request, isFirstOrigin)
    let attributes = tracer.conventions.attributes(of: request, template, resends: resends)
    return TelemetryExchange(self, exchange, attributes, request.url.scheme, begun)
  }

  func values(for request: HTTPRequest, isFirstOrigin: Bool) -> String? {
    guard let span else { return nil }
    var request = request
    propagate(span, in: &request, isFirstOrigin)
    return request.fields[.baggage]
  }

  /// Adds the fields of a span to a request, and removes those that its server must not receive.
  private func propagate(_ span: (any RunningSpan)?, in request: inout HTTPRequest, _ isFirstOrigin: Bool) {
    let (telemetry, origin) = (tracer.telemetry, request.url.origin)
    if telemetry.propagatesTo.allows(origin, isFirst: isFirstOrigin) {
      span?.inject(into: &request)
      if !telemetry.sharesBaggageWith.allows(origin, isFirst: isFirstOrigin) { request.removeBaggage() }
    } else {
      request.fields.remove(.traceparent)
      request.removeBaggage()
    }
  }

  /// Counts one more request, and returns how many were sent before.
  @discardableResult
  func countSend() -> Int {
    sends.withLock { sends in
      defer { sends &+= 1 }
      return sends
    }
  }

  func ended(_ outcome: Outcome<Void>) {
    guard let span else { return }
    let end = HTTPConventions.end(of: call, outcome)
    span.end(end.attributes, end.status, at: clock.time(at: clock.timers.now))
  }
}

/// Follows one exchange: its span and its measurements.
final class TelemetryExchange: ExchangeTrace {
  private let call: TelemetryCall
  private let span: (any RunningSpan)?
  private let attributes: Attributes
  private let scheme: HTTPURL.Scheme
  private let begun: MonotonicInstant
  private let meter: ExchangeMeter?

  init(
    _ call: TelemetryCall, _ span: (any RunningSpan)?, _ attributes: Attributes, _ scheme: HTTPURL.Scheme,
    _ begun: MonotonicInstant
  ) {
    (self.call, self.span, self.attributes, self.scheme, self.begun) = (call, span, attributes, scheme, begun)
    meter = call.tracer.telemetry.metrics.map { ExchangeMeter($0, attributes) }
    meter?.begin()
  }

  func repeated() { call.countSend() }

  func connected() -> (any ConnectionObserver)? {
    guard let recorder = call.tracer.telemetry.metrics else { return nil }
    var attributes = attributes.filter { $0.key == "server.address" || $0.key == "server.port" }
    attributes["url.scheme"] = .string(scheme.rawValue)
    return ConnectionMeter(recorder, attributes)
  }

  func answered(_ response: HTTPResponse) { end(HTTPConventions.end(response), response.metrics) }

  func failed(_ error: any Error) {
    end(HTTPConventions.end(error), TransportFailure.behind(error)?.metrics ?? ExchangeMetrics())
  }

  private func end(_ end: HTTPConventions.End, _ metrics: ExchangeMetrics) {
    let now = call.clock.timers.now
    let attributes = attributes.merging(end.attributes) { $1 }.merging(end.spanAttributes) { $1 }
    span?.end(attributes, end.status, at: call.clock.time(at: now))
    meter?.end(end.attributes, after: begun.duration(to: now), metrics)
  }
}

/// Follows one run of a group: its span, which is the parent of its members.
struct TelemetryGroup: GroupTrace {
  let clock: CallClock
  let span: any RunningSpan

  func during<Value>(_ body: () async -> Value) async -> Value { await span.during(body) }

  func ended(_ outcome: GroupOutcome<Void>) {
    let end = HTTPConventions.end(of: outcome)
    span.end(end.attributes, end.status, at: clock.time(at: clock.timers.now))
  }
}

/// Records the measurements of one attempt.
struct ExchangeMeter: Sendable {
  private let recorder: any MetricRecorder
  private let active: Attributes
  private let base: Attributes

  /// - Parameter attributes: The attributes of the attempt's span, from which the attributes of the metrics are taken.
  init(_ recorder: any MetricRecorder, _ attributes: Attributes) {
    self.recorder = recorder
    active = attributes.filter { Self.names.contains($0.key) || $0.key == "url.template" }
    base = attributes.filter { Self.names.contains($0.key) }
  }

  private static let names: Set<String> = ["http.request.method", "server.address", "server.port"]

  func begin() { recorder.record(1, .activeRequests, active) }

  func end(_ end: Attributes, after duration: Duration, _ metrics: ExchangeMetrics) {
    recorder.record(-1, .activeRequests, active)
    recorder.record(duration / .seconds(1), .requestDuration, active.merging(end) { $1 })
    guard let wait = Self.wait(metrics) else { return }
    recorder.record(wait / .seconds(1), .connectionWait, base)
  }

  /// The time until the attempt had a connection; nil if the transport did not measure it.
  private static func wait(_ metrics: ExchangeMetrics) -> Duration? {
    switch metrics.isConnectionReused {
    case true?: metrics.queue
    case false?: metrics.tls ?? metrics.connect
    case nil: nil
    }
  }
}

/// Counts one connection while it is open, by its state, and measures its duration.
final class ConnectionMeter: ConnectionObserver {
  private let recorder: any MetricRecorder
  private let attributes: Attributes
  // Not the clock of the call, because the timers of a transport must not outlive it.
  private let opened = MonotonicInstant.now
  /// The current state. Nil before the first report.
  private let state = Locked<ConnectionState?>(nil)

  /// - Parameter attributes: The server and the scheme of the connection.
  init(_ recorder: any MetricRecorder, _ attributes: Attributes) {
    (self.recorder, self.attributes) = (recorder, attributes)
  }

  func changed(to new: ConnectionState) {
    let old = state.withLock { state in
      defer { state = new }
      return state
    }
    guard old != new else { return }
    if let old { count(-1, old) }
    count(1, new)
    guard new == .closed else { return }
    recorder.record(opened.duration(to: .now) / .seconds(1), .connectionDuration, attributes)
  }

  private func count(_ change: Double, _ state: ConnectionState) {
    guard state != .closed else { return }
    recorder.record(
      change, .openConnections, attributes.merging(["http.connection.state": .string(state.rawValue)]) { $1 })
  }
}
