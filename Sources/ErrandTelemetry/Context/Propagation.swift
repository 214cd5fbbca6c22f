public import ErrandHTTP

/// Decides to which origins a client sends the trace context or the baggage.
public struct Propagation: Sendable {
  private let allows: @Sendable (_ origin: HTTPURL.Origin, _ isFirst: Bool) -> Bool

  private init(_ allows: @escaping @Sendable (_ origin: HTTPURL.Origin, _ isFirst: Bool) -> Bool) {
    self.allows = allows
  }

  /// All servers receive the fields.
  public static let everywhere = Propagation { _, _ in true }
  /// No server receives the fields.
  public static let nowhere = Propagation { _, _ in false }
  /// Only the origin of a call's first request, and the fallback servers of the same base URL, receive the fields. The
  /// target of a redirect to another origin does not.
  public static let firstOrigin = Propagation { _, isFirst in isFirst }

  /// Only servers for which a function returns true receive the fields. The function may run on any thread, for several
  /// exchanges at the same time.
  public static func matching(_ allows: @escaping @Sendable (HTTPURL.Origin) -> Bool) -> Propagation {
    Propagation { origin, _ in allows(origin) }
  }

  /// Only certain servers receive the fields, each named by its scheme, host and port: `https://api.example.com`.
  ///
  /// - Throws: ``ErrandHTTP/HTTPURL/Invalid`` if a text is not an http or https URL.
  public static func only(_ origins: String...) throws(HTTPURL.Invalid) -> Propagation {
    var allowed: Set<HTTPURL.Origin> = []
    for text in origins { allowed.insert(try HTTPURL(text).origin) }
    return Propagation { [allowed] origin, _ in allowed.contains(origin) }
  }

  /// Whether a server receives the fields.
  ///
  /// - Parameters:
  ///   - origin: The server.
  ///   - isFirst: Whether it is the server of the call's first request.
  public func allows(_ origin: HTTPURL.Origin, isFirst: Bool) -> Bool { allows(origin, isFirst) }
}

extension HTTPRequest {
  /// Adds the fields of a context and of baggage. A field that the request already has stays as it is; if it has its own
  /// `traceparent`, no `tracestate` is added either.
  mutating func add(_ context: TraceContext?, _ baggage: Baggage?) {
    if let context, !fields.contains(.traceparent) {
      fields.append(HTTPField(.traceparent, context.traceparent))
      // Without a `traceparent` of its own, a `tracestate` of the request belongs to no context.
      fields.remove(.tracestate)
      let state = context.state.text
      if !state.isEmpty { fields.append(HTTPField(.tracestate, state)) }
    }
    if let baggage, !fields.contains(.baggage) {
      let text = baggage.text
      if !text.isEmpty { fields.append(HTTPField(.baggage, text)) }
    }
  }

  /// Removes the fields that carry values: the state of the trace and the baggage.
  mutating func removeBaggage() {
    fields.remove(.tracestate)
    fields.remove(.baggage)
  }
}

extension HTTPFieldName {
  static let traceparent: HTTPFieldName = "traceparent"
  static let tracestate: HTTPFieldName = "tracestate"
  static let baggage: HTTPFieldName = "baggage"
}
