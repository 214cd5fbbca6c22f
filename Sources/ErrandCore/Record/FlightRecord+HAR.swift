package import ErrandJSON
public import Foundation

extension FlightRecord {
  /// The record as an HTTP archive (HAR 1.2), which the network panels of browsers import.
  ///
  /// Each exchange is an entry. A call without an exchange, such as a cache hit, is one entry. The member `_errand` of
  /// an entry contains the number of the call (`call`), the type of the request (`requestType`), the number of the
  /// exchange in the call (`attempt`, 0 without an exchange) and the `tag`. In the last entry of the call it also
  /// contains the start of the call (`startedAt`), its `duration`, its `outcome`, and its `decisions` as sentences, with
  /// their `kinds` and `offsets` from the start of the call in lists of the same order. Texts are masked as the
  /// ``FlightRecording/Detail`` of the client demands. A response body that is shown and is no text is in Base64. Times
  /// are in milliseconds. A phase that was not measured or did not happen is -1, except the phases `send`, `wait` and
  /// `receive`, which are zero then.
  public func har() -> Data {
    // The version is that of the members of `_errand`.
    HARMembers.archive(creator: "Errand", version: "1", calls.flatMap(\.harEntries))
  }
}

extension FlightCall {
  /// The entries of this call in an HTTP archive.
  package var harEntries: [JSONValue] { HARCall(self).entries }
}

/// Converts a recorded call into entries of an HTTP archive.
private struct HARCall {
  private let call: FlightCall
  /// The mask for all texts of the call. Making it takes time in proportion to the number of exchanges, so it is made
  /// only once.
  private let mask: FlightMask
  private let tag: String?

  init(_ call: FlightCall) {
    let mask = call.mask
    (self.call, self.mask, tag) = (call, mask, call.storage.tag.map(mask.text))
  }

  var entries: [JSONValue] {
    let exchanges = call.maskedExchanges(by: mask)
    if exchanges.isEmpty { return [local] }
    return exchanges.enumerated().map { index, exchange in
      entry(exchange, errand(attempt: index + 1, isLast: index == exchanges.count - 1))
    }
  }

  private func entry(_ exchange: FlightExchange, _ errand: JSONValue) -> JSONValue {
    let metrics = exchange.metrics
    let timings = HARTimings(metrics)
    return entry(
      startedAt: call.startedAt.addingTimeInterval(exchange.offset / .seconds(1)), timings, request(exchange),
      response(exchange, metrics), address: metrics.remoteAddress, port: metrics.remotePort, errand)
  }

  private func entry(
    startedAt: Date, _ timings: HARTimings, _ request: JSONValue, _ response: JSONValue, address: String? = nil,
    port: Int? = nil, isFromCache: Bool = false, _ errand: JSONValue
  ) -> JSONValue {
    var members = HARMembers.entry(
      startedAt: startedAt, time: HARMembers.milliseconds(timings.time), request: request, response: response,
      timings: timings, address: address, isFromCache: isFromCache, errand: errand)
    members["connection"] = port.map { .string("\($0)") }
    members["_resourceType"] = "fetch"
    return .object(members)
  }

  /// The entry of a call that sent no request: a cache hit, or a call that failed before it was sent.
  private var local: JSONValue {
    var (status, failure, isFromCache): (Int?, String?, Bool) = (nil, nil, false)
    switch call.maskedOutcome(by: mask) {
    case .success(let found, let origin): (status, isFromCache) = (found, origin?.isFromCache == true)
    case .failure(_, _, let message, let found): (status, failure) = (found, message)
    }
    let url = call.storage.request.map { mask.url($0.url.string) }
    return entry(
      startedAt: call.startedAt, HARTimings(wait: call.duration),
      HARMembers.request(call.method?.rawValue ?? "", url ?? "", version: "", [], body: nil, size: nil),
      .object(HARMembers.response(status, "", version: "", [], body: nil, size: 0, failure: failure)),
      isFromCache: isFromCache, errand(attempt: 0, isLast: true))
  }

  private func request(_ exchange: FlightExchange) -> JSONValue {
    HARMembers.request(
      exchange.method.rawValue, exchange.url, version: version(exchange.metrics), exchange.requestHeaders,
      body: exchange.requestBody, size: exchange.notes.requestBody?.length)
  }

  private func response(_ exchange: FlightExchange, _ metrics: ExchangeMetrics) -> JSONValue {
    let response = exchange.notes.end.response
    let base64 = response?.body.flatMap { mask.base64($0) }
    var members = HARMembers.response(
      exchange.status, mask.serverText(response?.head.reason ?? ""), version: version(metrics),
      exchange.responseHeaders, body: base64 ?? exchange.responseBody, isBase64: base64 != nil,
      size: response?.bodyLength, failure: exchange.failure)
    members["_transferSize"] = .integer(metrics.bytesReceived)
    return .object(members)
  }

  private func version(_ metrics: ExchangeMetrics) -> String { metrics.version?.rawValue ?? "unknown" }

  private func errand(attempt: Int, isLast: Bool) -> JSONValue {
    var members = HARMembers.errand(call: call.number, requestType: call.requestType, attempt: attempt, tag: tag)
    guard isLast else { return .object(members) }
    let steps = call.storage.decisions
    let end = HARMembers.end(
      startedAt: call.startedAt, duration: call.duration, outcome: outcome, decisions: call.sentences(maskedBy: mask),
      kinds: steps.map(\.decision.kind), offsets: steps.map(\.offset))
    members.merge(end) { $1 }
    return .object(members)
  }

  private var outcome: JSONValue {
    switch call.maskedOutcome(by: mask) {
    case .success(let status, let origin):
      HARMembers.outcome(status: status, origin: origin?.rawValue, failure: nil)
    case .failure(let stage, let code, let message, let status):
      HARMembers.outcome(status: status, origin: nil, failure: (stage.rawValue, code.rawValue, message))
    }
  }
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
    case .sentAgain: "sentAgain"
    case .download: "download"
    case .sent: "sent"
    case .deadlinePassed: "deadlinePassed"
    case .cancelled: "cancelled"
    }
  }
}
