package import ErrandJSON
import ErrandSupport
public import Foundation

extension FlightRecord {
  /// The record as an HTTP archive (HAR 1.2), which the network panels of browsers import.
  ///
  /// Each exchange is an entry. A call without an exchange, such as a cache hit, is one entry. The member `_errand` of
  /// an entry contains the number of the call (`call`), the type of the request (`requestType`), the number of the
  /// exchange in the call (`attempt`, 0 without an exchange) and the `tag`. In the last entry of the call it also
  /// contains the start of the call (`startedAt`), its `duration`, its `outcome`, and its `decisions` as sentences, with
  /// their `kinds` and `offsets` from the start of the call in lists of the same order. Texts are masked as the
  /// ``FlightRecording/Detail`` of the client demands. Times are in milliseconds. A phase that was not measured or did
  /// not happen is -1, except the phases `send`, `wait` and `receive`, which are zero then.
  public func har() -> Data {
    let log: JSONValue = .object([
      "version": .string("1.2"),
      // The version of the members of `_errand`.
      "creator": .object(["name": .string("Errand"), "version": .string("1")]),
      "entries": .array(calls.flatMap(\.harEntries)),
    ])
    // Serialising fails only for numbers that are not finite and for deep nesting. The archive contains neither.
    return (try? JSONValue.object(["log": log]).serialized(pretty: true)) ?? Data()
  }
}

extension FlightCall {
  /// The entries of this call in an HTTP archive.
  package var harEntries: [JSONValue] { HARCall.entries(of: self) }
}

/// Converts a recorded call into entries of an HTTP archive.
private enum HARCall {
  static func entries(of call: FlightCall) -> [JSONValue] {
    let exchanges = call.exchanges
    if exchanges.isEmpty { return [local(call)] }
    return exchanges.enumerated().map { index, exchange in
      entry(exchange, of: call, errand(call, attempt: index + 1, isLast: index == exchanges.count - 1))
    }
  }

  private static func entry(_ exchange: FlightExchange, of call: FlightCall, _ errand: JSONValue) -> JSONValue {
    let timings = HARTimings(exchange.metrics)
    var members: [String: JSONValue] = [
      "startedDateTime": .string(moment(call.startedAt, exchange.offset)), "time": .number(timings.time),
      "request": request(exchange), "response": response(exchange), "cache": .object([:]),
      "timings": timings.json, "_resourceType": .string("fetch"), "_errand": errand,
    ]
    if let address = exchange.metrics.remoteAddress { members["serverIPAddress"] = .string(address) }
    if let port = exchange.metrics.remotePort { members["connection"] = .string("\(port)") }
    return .object(members)
  }

  /// The entry of a call that sent no request: a cache hit, or a call that failed before it was sent.
  private static func local(_ call: FlightCall) -> JSONValue {
    let time = call.duration / .milliseconds(1)
    var status = 0
    var response: [String: JSONValue] = [:]
    var isFromCache = false
    switch call.outcome {
    case .success(let found, let origin):
      status = found ?? 0
      isFromCache = origin?.isFromCache == true
    case .failure(_, _, let message, let found):
      status = found ?? 0
      response["_error"] = .string(message)
    }
    let url = call.url ?? ""
    response.merge(self.response(status, "", "", [], body: nil, size: -1)) { old, _ in old }
    var members: [String: JSONValue] = [
      "startedDateTime": .string(moment(call.startedAt, .zero)), "time": .number(time),
      "request": request(call.method?.rawValue ?? "", url, version: "", [], body: nil, size: -1),
      "response": .object(response), "cache": .object([:]),
      "timings": HARTimings(wait: time).json, "_resourceType": .string("fetch"),
      "_errand": errand(call, attempt: 0, isLast: true),
    ]
    if isFromCache { members["_fromCache"] = .string("memory") }
    return .object(members)
  }

  // MARK: - Messages

  private static func request(_ exchange: FlightExchange) -> JSONValue {
    request(
      exchange.method.rawValue, exchange.url, version: version(exchange), exchange.requestHeaders,
      body: exchange.requestBody, size: exchange.storage.requestBody?.length ?? -1)
  }

  private static func request(
    _ method: String, _ url: String, version: String, _ headers: [HTTPField], body: String?, size: Int
  ) -> JSONValue {
    var members: [String: JSONValue] = [
      "method": .string(method), "url": .string(url), "httpVersion": .string(version), "cookies": .array([]),
      "headers": list(headers), "queryString": query(url), "headersSize": .integer(-1), "bodySize": JSONValue(size),
    ]
    if let body {
      members["postData"] = .object([
        "mimeType": .string(mimeType(headers)), "params": .array([]), "text": .string(body),
      ])
    }
    return .object(members)
  }

  private static func response(_ exchange: FlightExchange) -> JSONValue {
    let headers = exchange.responseHeaders
    var members = response(
      exchange.status ?? 0, exchange.mask.text(exchange.storage.end.response?.head.reason ?? ""), version(exchange),
      headers,
      body: exchange.responseBody, size: exchange.storage.end.response?.body?.length ?? -1)
    members["_transferSize"] = .integer(exchange.metrics.bytesReceived)
    if let failure = exchange.failure { members["_error"] = .string(failure) }
    return .object(members)
  }

  private static func response(
    _ status: Int, _ reason: String, _ version: String, _ headers: [HTTPField], body: String?, size: Int
  ) -> [String: JSONValue] {
    var content: [String: JSONValue] = ["size": JSONValue(max(size, 0)), "mimeType": .string(mimeType(headers))]
    if let body { content["text"] = .string(body) }
    let location = headers.first { $0.name == .location }?.value ?? ""
    return [
      "status": JSONValue(status), "statusText": .string(reason), "httpVersion": .string(version),
      "cookies": .array([]), "headers": list(headers), "content": .object(content),
      "redirectURL": .string(location), "headersSize": .integer(-1), "bodySize": .integer(-1),
    ]
  }

  private static func list(_ fields: [HTTPField]) -> JSONValue {
    .array(fields.map { .object(["name": .string($0.name.rawValue), "value": .string($0.value)]) })
  }

  private static func query(_ url: String) -> JSONValue {
    guard let (_, query) = url.cut(at: "?") else { return .array([]) }
    return .array(
      query.parts(at: "&").map { pair in
        let (name, value) = pair.cut(at: "=") ?? (pair, "")
        return .object(["name": .string(String(name)), "value": .string(String(value))])
      })
  }

  private static func mimeType(_ headers: [HTTPField]) -> String {
    headers.first { $0.name == .contentType }?.value ?? "x-unknown"
  }

  private static func version(_ exchange: FlightExchange) -> String {
    exchange.metrics.version?.rawValue ?? "unknown"
  }

  // MARK: - Details

  private static func errand(_ call: FlightCall, attempt: Int, isLast: Bool) -> JSONValue {
    var members: [String: JSONValue] = [
      "call": JSONValue(call.number), "requestType": .string(call.requestType), "attempt": JSONValue(attempt),
    ]
    if let tag = call.tag { members["tag"] = .string(tag) }
    if isLast {
      members["startedAt"] = .string(moment(call.startedAt, .zero))
      members["duration"] = .number(call.duration / .milliseconds(1))
      members["outcome"] = outcome(call.outcome)
      members["decisions"] = .array(call.sentences.map { .string($0) })
      members["kinds"] = .array(call.storage.decisions.map { .string($0.decision.kind) })
      members["offsets"] = .array(call.storage.decisions.map { .number($0.offset / .milliseconds(1)) })
    }
    return .object(members)
  }

  /// The outcome of a call: its `status`, and its `origin` or its `failure`.
  private static func outcome(_ outcome: FlightCall.Outcome) -> JSONValue {
    var members: [String: JSONValue] = [:]
    switch outcome {
    case .success(let status, let origin):
      members["status"] = status.map { JSONValue($0) }
      members["origin"] = origin.map { .string($0.rawValue) }
    case .failure(let stage, let code, let message, let status):
      members["status"] = status.map { JSONValue($0) }
      members["failure"] = .object([
        "stage": .string(stage.rawValue), "code": .string(code.rawValue), "message": .string(message),
      ])
    }
    return .object(members)
  }

  private static func moment(_ start: Date, _ offset: Duration) -> String {
    start.addingTimeInterval(offset / .seconds(1)).archiveText
  }
}

extension Date {
  /// The date as an HTTP archive contains it, with milliseconds. The formatter cuts digits off, so half a millisecond is
  /// added.
  package var archiveText: String {
    addingTimeInterval(0.000_5).formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
  }
}

/// The phases of an exchange in an HTTP archive, in milliseconds.
private struct HARTimings {
  private var phases: [String: Double] = ["blocked": -1, "dns": -1, "connect": -1, "ssl": -1, "send": 0, "receive": 0]

  init(wait: Double) { phases["wait"] = wait }

  /// Computes the phases from the times since the start of the exchange at which they ended.
  init(_ metrics: ExchangeMetrics) {
    var last = Duration.zero
    func phase(until end: Duration?) -> Double {
      guard let end, end >= last else { return -1 }
      defer { last = end }
      return (end - last) / .milliseconds(1)
    }
    phases["blocked"] = phase(until: metrics.queue)
    phases["dns"] = phase(until: metrics.nameLookup)
    let connect = phase(until: metrics.connect)
    let ssl = phase(until: metrics.tls)
    phases["ssl"] = ssl
    phases["connect"] = connect < 0 ? ssl : connect + max(ssl, 0)
    phases["wait"] = max(phase(until: metrics.firstByte ?? metrics.total), 0)
    phases["receive"] = max(phase(until: metrics.total), 0)
  }

  /// The sum of the phases. `ssl` is a part of `connect`.
  var time: Double { phases.reduce(0) { $1.key == "ssl" ? $0 : $0 + max($1.value, 0) } }

  var json: JSONValue { .object(phases.mapValues { .number($0) }) }
}

extension CallDecision {
  /// A word for the kind of the decision: the name of its case.
  fileprivate var kind: String {
    switch self {
    case .cache: "cache"
    case .joined: "joined"
    case .notJoined: "notJoined"
    case .waited: "waited"
    case .retried: "retried"
    case .notRetried: "notRetried"
    case .circuitOpen: "circuitOpen"
    case .refreshed: "refreshed"
    case .redirected: "redirected"
    case .notRedirected: "notRedirected"
    case .failedOver: "failedOver"
    case .hedged: "hedged"
    case .notHedged: "notHedged"
    case .download: "download"
    case .sent: "sent"
    case .deadlinePassed: "deadlinePassed"
    case .cancelled: "cancelled"
    }
  }
}
