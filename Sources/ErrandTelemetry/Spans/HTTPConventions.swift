package import ErrandCore
package import ErrandHTTP

/// Writes the attributes of spans and metrics by OpenTelemetry's semantic conventions for HTTP clients, version 1.44.0.
package struct HTTPConventions: Sendable {
  /// The methods that are known. All others are recorded as `_OTHER`.
  package var knownMethods: Set<String>
  /// How much of the query is recorded.
  package var query: Telemetry.QueryDetail
  /// Whether `user_agent.original` is recorded.
  package var recordsUserAgent: Bool

  package init(
    knownMethods: Set<String> = Telemetry.standardMethods, query: Telemetry.QueryDetail = .names,
    recordsUserAgent: Bool = false
  ) {
    (self.knownMethods, self.query, self.recordsUserAgent) = (knownMethods, query, recordsUserAgent)
  }

  // MARK: - Names

  /// The name of the span of an attempt: the method and the template of the path, if there is one.
  package func name(_ method: HTTPMethod, _ template: String?) -> String {
    let method = isKnown(method) ? method.rawValue : "HTTP"
    return template.map { "\(method) \($0)" } ?? method
  }

  private func isKnown(_ method: HTTPMethod) -> Bool { knownMethods.contains(method.rawValue) }

  /// The template of a request's path, without the origin of an absolute URL; nil if the path has none.
  package static func template(of path: RequestPath) -> String? {
    guard let template = path.template else { return nil }
    guard HTTPURL.isAbsolute(template) else { return template.hasPrefix("/") ? template : "/" + template }
    let parts = template.utf8.split(separator: 0x2F, maxSplits: 3, omittingEmptySubsequences: false)
    // An origin that contains a variable has an unknown number of values.
    guard parts.count > 2, !parts[2].contains(0x7B) else { return nil }
    return parts.count > 3 ? "/" + String(Substring(parts[3])) : "/"
  }

  // MARK: - Attributes

  /// The attributes of an attempt that are known when the request is sent.
  package func attributes(of request: HTTPRequest, _ template: String?, resends: Int) -> Attributes {
    var result: Attributes = [
      "http.request.method": .string(isKnown(request.method) ? request.method.rawValue : "_OTHER"),
      "server.address": .string(request.url.origin.certificateName), "server.port": .int(Int64(request.url.port)),
    ]
    if !isKnown(request.method) { result["http.request.method_original"] = .string(request.method.rawValue) }
    result["url.full"] = .string(url(request.url))
    result["url.template"] = template.map { .string($0) }
    if resends > 0 { result["http.request.resend_count"] = .int(Int64(resends)) }
    if recordsUserAgent, let agent = request.fields[.userAgent] { result["user_agent.original"] = .string(agent) }
    return result
  }

  /// The outcome of an attempt, as attributes of its span and of its metrics.
  package struct End: Sendable, Hashable {
    /// The attributes of the span and of the metrics.
    package var attributes: Attributes
    /// Further attributes of the span only, such as the address of the server, which has too many values for metrics.
    package var spanAttributes: Attributes = [:]
    /// Whether the attempt failed.
    package var status: Span.Status
  }

  /// The outcome of an attempt with a response. A status from 400 on is an error.
  package static func end(_ response: HTTPResponse) -> End {
    let isError = response.status >= 400
    var end = End(attributes: ["http.response.status_code": .int(Int64(response.status))], status: .unset)
    if isError { (end.status, end.attributes["error.type"]) = (.error, .string("\(response.status)")) }
    add(response.metrics, response.head.version, to: &end)
    return end
  }

  /// The outcome of an attempt without a whole response. If the caller cancelled it, that is not an error.
  package static func end(_ error: any Error) -> End {
    var end = End(attributes: [:], status: .unset)
    if let type = type(of: error) { (end.status, end.attributes["error.type"]) = (.error, .string(type)) }
    let metrics = TransportFailure.behind(error)?.metrics ?? ExchangeMetrics()
    // The response broke off after its status.
    end.attributes["http.response.status_code"] = metrics.status.map { .int(Int64($0)) }
    add(metrics, metrics.version, to: &end)
    return end
  }

  private static func add(_ metrics: ExchangeMetrics, _ version: ResponseHead.Version?, to end: inout End) {
    end.attributes["network.protocol.version"] = version.map { .string(text(of: $0)) }
    end.spanAttributes["network.peer.address"] = metrics.remoteAddress.map { .string($0) }
    end.spanAttributes["network.peer.port"] = metrics.remotePort.map { .int(Int64($0)) }
  }

  private static func text(of version: ResponseHead.Version) -> String {
    switch version {
    case .http1_0: "1.0"
    case .http1_1: "1.1"
    case .http2: "2"
    case .http3: "3"
    }
  }

  /// The value of `error.type`: a stable code of the library, never a message. Nil for a cancellation.
  package static func type(of error: any Error) -> String? {
    if let failure = TransportFailure.behind(error) { return failure.kind.rawValue }
    switch error {
    case let stopped as CallState.Stopped: return stopped.reason == .cancelled ? nil : "deadline"
    case let error as APIError: return error.stage == .cancelled ? nil : error.code.rawValue
    case is CancellationError: return nil
    default: return "_OTHER"
    }
  }

  /// The attributes of a call, and whether it failed.
  package static func end(of call: CallInfo, _ outcome: Outcome<Void>) -> End {
    var end = End(
      attributes: [
        "errand.call.id": .int(Int64(clamping: call.id)), "errand.request.type": .string(call.name),
        "errand.call.attempts": .int(Int64(outcome.metrics.attempts)),
      ], status: .unset)
    if let origin = outcome.origin { end.attributes["errand.response.origin"] = .string(origin.rawValue) }
    if outcome.metrics.isJoined { end.attributes["errand.call.joined"] = true }
    add(outcome.error, to: &end)
    return end
  }

  /// The attributes of a group, and whether it failed.
  package static func end(of outcome: GroupOutcome<Void>) -> End {
    let group = outcome.report.group
    var end = End(
      attributes: [
        "errand.group.id": .int(Int64(clamping: group.id)), "errand.group.kind": .string("\(group.kind)"),
        "errand.group.members": .int(Int64(outcome.report.entries.count)),
      ], status: .unset)
    add(outcome.error, to: &end)
    return end
  }

  private static func add(_ error: APIError?, to end: inout End) {
    guard let error, let type = type(of: error) else { return }
    let status = error.code == .status ? error.status.map { "\($0)" } : nil
    (end.status, end.attributes["error.type"]) = (.error, .string(status ?? type))
  }

  // MARK: - URLs

  /// The URL without secrets: credentials, and the values of the query that ``query`` does not allow.
  package func url(_ url: HTTPURL) -> String {
    let text = url.string.utf8
    let head = String(Substring(text.prefix(url.queryStart)))
    let base = Self.withoutUserInfo(head)
    guard let query = url.query else { return base }
    return base + "?" + shown(query)
  }

  private static let redacted = "REDACTED"

  private func shown(_ query: String) -> String {
    switch self.query {
    case .names:
      query.utf8.split(separator: 0x26, omittingEmptySubsequences: false).map { item in
        // An item without a name may be a secret as a whole.
        guard let equals = item.firstIndex(of: 0x3D) else { return item.isEmpty ? "" : Self.redacted }
        return String(Substring(item[...equals])) + Self.redacted
      }.joined(separator: "&")
    case .values:
      // The names of signatures that the conventions list are among the names of secrets.
      URLText.changing(items: query) { name, _ in SecretName.isSecret(encoded: name) ? Self.redacted : nil }
    }
  }

  private static func withoutUserInfo(_ url: String) -> String {
    let parts = url.utf8.split(separator: 0x2F, maxSplits: 3, omittingEmptySubsequences: false)
    guard parts.count > 2, let at = parts[2].lastIndex(of: 0x40) else { return url }
    let host = String(Substring(parts[2][parts[2].index(after: at)...]))
    let rest = parts.count > 3 ? "/" + String(Substring(parts[3])) : ""
    return "\(String(Substring(parts[0])))//\(redacted):\(redacted)@\(host)\(rest)"
  }
}
