package import ErrandJSON
import ErrandSupport
package import Foundation

/// The members of an HTTP archive (HAR 1.2). The record of a client and the archives of ErrandRecord are written with
/// them. A text that is nil is left out; a number that is nil is unknown.
package enum HARMembers {
  /// A whole archive in UTF-8, indented.
  package static func archive(creator: String, version: String, _ entries: [JSONValue]) -> Data {
    let log: JSONValue = .object([
      "version": "1.2", "creator": .object(["name": .string(creator), "version": .string(version)]),
      "entries": .array(entries),
    ])
    // Serialising fails only for numbers that are not finite and for deep nesting. An archive contains neither.
    return (try? JSONValue.object(["log": log]).serialized(pretty: true)) ?? Data()
  }

  /// The entry of one exchange, with the members of Errand in `errand`.
  package static func entry(
    startedAt: Date, time: JSONValue, request: JSONValue, response: JSONValue, timings: HARTimings, address: String?,
    isFromCache: Bool, errand: JSONValue?
  ) -> [String: JSONValue] {
    var members: [String: JSONValue] = [
      "startedDateTime": .string(startedAt.archiveText), "time": time, "request": request, "response": response,
      "cache": .object([:]), "timings": timings.json,
    ]
    members["serverIPAddress"] = address.map { .string($0) }
    if isFromCache { members["_fromCache"] = "memory" }
    members["_errand"] = errand
    return members
  }

  package static func request(
    _ method: String, _ url: String, version: String, _ headers: [HTTPField], body: String?, size: Int?
  ) -> JSONValue {
    var members: [String: JSONValue] = [
      "method": .string(method), "url": .string(url), "httpVersion": .string(version), "cookies": .array([]),
      "headers": list(headers), "queryString": query(url), "headersSize": -1, "bodySize": JSONValue(size ?? -1),
    ]
    if let body {
      members["postData"] = .object([
        "mimeType": .string(mediaType(headers)), "params": .array([]), "text": .string(body),
      ])
    }
    return .object(members)
  }

  /// The response of an entry. Its status is 0 if no response arrived.
  /// - Parameters:
  ///   - size: The length of the body in bytes; nil if it is unknown. It is then written as -1, or 0 without a response.
  ///   - mediaType: The media type of the body; nil for that of the header fields.
  ///   - failure: The description of the failure.
  package static func response(
    _ status: Int?, _ reason: String, version: String, _ headers: [HTTPField], body: String?, isBase64: Bool = false,
    size: Int?, mediaType: String? = nil, failure: String?
  ) -> [String: JSONValue] {
    var content: [String: JSONValue] = [
      "size": JSONValue(size ?? (status == nil ? 0 : -1)), "mimeType": .string(mediaType ?? self.mediaType(headers)),
    ]
    content["text"] = body.map { .string($0) }
    if isBase64 { content["encoding"] = "base64" }
    let location = headers.first { $0.name == .location }?.value ?? ""
    var members: [String: JSONValue] = [
      "status": JSONValue(status ?? 0), "statusText": .string(reason), "httpVersion": .string(version),
      "cookies": .array([]), "headers": list(headers), "content": .object(content),
      "redirectURL": .string(location), "headersSize": -1, "bodySize": -1,
    ]
    members["_error"] = failure.map { .string($0) }
    return members
  }

  package static func milliseconds(_ time: Duration) -> JSONValue { .number(time / .milliseconds(1)) }

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

  private static func mediaType(_ headers: [HTTPField]) -> String {
    headers.first { $0.name == .contentType }?.value ?? "x-unknown"
  }
}

extension HARMembers {
  // MARK: - The members of Errand

  /// The member `_errand` of an entry that is not the last of its call.
  package static func errand(
    call: UInt64, requestType: String, attempt: Int, tag: String?
  ) -> [String: JSONValue] {
    var members: [String: JSONValue] = [
      "call": JSONValue(call), "requestType": .string(requestType), "attempt": JSONValue(attempt),
    ]
    members["tag"] = tag.map { .string($0) }
    return members
  }

  /// What the member `_errand` of the last entry of a call contains in addition. The lists `kinds` and `offsets` belong
  /// to the first decisions.
  package static func end(
    startedAt: Date, duration: Duration, outcome: JSONValue, decisions: [String], kinds: [String], offsets: [Duration]
  ) -> [String: JSONValue] {
    [
      "startedAt": .string(startedAt.archiveText), "duration": milliseconds(duration), "outcome": outcome,
      "decisions": .array(decisions.map { .string($0) }), "kinds": .array(kinds.map { .string($0) }),
      "offsets": .array(offsets.map(milliseconds)),
    ]
  }

  /// The outcome of a call: its status, and its origin or its failure.
  package static func outcome(
    status: Int?, origin: String?, failure: (stage: String, code: String, message: String)?
  ) -> JSONValue {
    var members: [String: JSONValue] = [:]
    members["status"] = status.map { JSONValue($0) }
    members["origin"] = origin.map { .string($0) }
    members["failure"] = failure.map {
      .object(["stage": .string($0.stage), "code": .string($0.code), "message": .string($0.message)])
    }
    return .object(members)
  }
}

extension Date {
  /// The date as an HTTP archive contains it, with milliseconds. The formatter cuts digits off, so half a millisecond is
  /// added.
  package var archiveText: String {
    addingTimeInterval(0.000_5).formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
  }
}

/// The phases of an exchange in an HTTP archive. A phase that was not measured or did not happen is nil. It is written
/// as -1; the phases `send`, `wait` and `receive`, which HAR 1.2 requires, are written as 0.
package struct HARTimings {
  private let blocked, dns, connect, tls, send, wait, receive: Duration?

  package init(
    blocked: Duration? = nil, dns: Duration? = nil, connect: Duration? = nil, tls: Duration? = nil,
    send: Duration? = nil, wait: Duration?, receive: Duration? = nil
  ) {
    (self.blocked, self.dns, self.connect, self.tls) = (blocked, dns, connect, tls)
    (self.send, self.wait, self.receive) = (send, wait, receive)
  }

  /// Computes the phases from the times since the start of the exchange at which they ended.
  init(_ metrics: ExchangeMetrics) {
    var last = Duration.zero
    func phase(until end: Duration?) -> Duration? {
      guard let end, end >= last else { return nil }
      defer { last = end }
      return end - last
    }
    let (blocked, dns) = (phase(until: metrics.queue), phase(until: metrics.nameLookup))
    let (connect, tls) = (phase(until: metrics.connect), phase(until: metrics.tls))
    self.init(
      blocked: blocked, dns: dns, connect: connect.map { $0 + (tls ?? .zero) } ?? tls, tls: tls,
      wait: phase(until: metrics.firstByte ?? metrics.total), receive: phase(until: metrics.total))
  }

  /// The sum of the phases. The phase `tls` is a part of `connect`.
  var time: Duration { [blocked, dns, connect, send, wait, receive].reduce(.zero) { $0 + ($1 ?? .zero) } }

  fileprivate var json: JSONValue {
    func phase(_ time: Duration?, otherwise missing: Double = -1) -> JSONValue {
      time.map(HARMembers.milliseconds) ?? .number(missing)
    }
    return .object([
      "blocked": phase(blocked), "dns": phase(dns), "connect": phase(connect), "ssl": phase(tls),
      "send": phase(send, otherwise: 0), "wait": phase(wait, otherwise: 0), "receive": phase(receive, otherwise: 0),
    ])
  }
}
