import ErrandCore
import ErrandJSON
import ErrandSupport
import Foundation

extension HTTPArchive.Entry {
  /// The entry as a member of an archive.
  var json: JSONValue {
    var members: [String: JSONValue] = [
      "startedDateTime": .string(startedAt.archiveText), "time": Self.milliseconds(time), "request": request.json,
      "response": response.json, "cache": .object([:]), "timings": timings.json,
    ]
    members["serverIPAddress"] = serverAddress.map { .string($0) }
    if isFromCache { members["_fromCache"] = "memory" }
    members["_errand"] = details?.json
    return .object(members)
  }

  static func milliseconds(_ time: Duration) -> JSONValue { .number(time / .milliseconds(1)) }

  static func list(_ fields: [HTTPField]) -> JSONValue {
    .array(fields.map { .object(["name": .string($0.name.rawValue), "value": .string($0.value)]) })
  }
}

extension HTTPArchive.Request {
  fileprivate var json: JSONValue {
    var members: [String: JSONValue] = [
      "method": .string(method), "url": .string(url), "httpVersion": .string(version), "cookies": .array([]),
      "headers": HTTPArchive.Entry.list(headers), "queryString": query, "headersSize": -1,
      "bodySize": JSONValue(bodySize ?? -1),
    ]
    if let body {
      let type = headers.first { $0.name == .contentType }?.value ?? "x-unknown"
      members["postData"] = .object(["mimeType": .string(type), "params": .array([]), "text": .string(body)])
    }
    return .object(members)
  }

  private var query: JSONValue {
    guard let (_, query) = url.cut(at: "?") else { return .array([]) }
    return .array(
      query.parts(at: "&").map { pair in
        let (name, value) = pair.cut(at: "=") ?? (pair, "")
        return .object(["name": .string(String(name)), "value": .string(String(value))])
      })
  }
}

extension HTTPArchive.Response {
  fileprivate var json: JSONValue {
    var content: [String: JSONValue] = ["size": JSONValue(bodySize ?? 0), "mimeType": .string(mediaType)]
    content["text"] = body.map { .string($0) }
    if isBase64 { content["encoding"] = "base64" }
    let location = headers.first { $0.name == .location }?.value ?? ""
    var members: [String: JSONValue] = [
      "status": JSONValue(status ?? 0), "statusText": .string(reason), "httpVersion": .string(version),
      "cookies": .array([]), "headers": HTTPArchive.Entry.list(headers), "content": .object(content),
      "redirectURL": .string(location), "headersSize": -1, "bodySize": -1,
    ]
    members["_error"] = failure.map { .string($0) }
    return .object(members)
  }
}

extension HTTPArchive.Timings {
  fileprivate var json: JSONValue {
    func phase(_ time: Duration?, otherwise missing: Double = -1) -> JSONValue {
      time.map(HTTPArchive.Entry.milliseconds) ?? .number(missing)
    }
    return .object([
      "blocked": phase(blocked), "dns": phase(dns), "connect": phase(connect), "ssl": phase(tls),
      "send": phase(send, otherwise: 0), "wait": phase(wait, otherwise: 0), "receive": phase(receive, otherwise: 0),
    ])
  }
}

extension HTTPArchive.Details {
  fileprivate var json: JSONValue {
    var members: [String: JSONValue] = [
      "call": JSONValue(call), "requestType": .string(requestType), "attempt": JSONValue(attempt),
    ]
    members["run"] = run.map { .string($0) }
    members["tag"] = tag.map { .string($0) }
    if let end { members.merge(end.members) { $1 } }
    return .object(members)
  }
}

extension HTTPArchive.End {
  fileprivate var members: [String: JSONValue] {
    var outcome: [String: JSONValue] = [:]
    outcome["status"] = status.map { JSONValue($0) }
    outcome["origin"] = origin.map { .string($0) }
    outcome["failure"] = failure.map {
      .object(["stage": .string($0.stage), "code": .string($0.code), "message": .string($0.message)])
    }
    return [
      "startedAt": .string(startedAt.archiveText), "duration": HTTPArchive.Entry.milliseconds(duration),
      "outcome": .object(outcome), "decisions": .array(decisions.map { .string($0.text) }),
      // The lists end at the first decision of which the kind or the offset is unknown.
      "kinds": .array(decisions.prefix { $0.kind != nil }.compactMap { $0.kind.map { .string($0) } }),
      "offsets": .array(
        decisions.prefix { $0.offset != nil }.compactMap { $0.offset.map(HTTPArchive.Entry.milliseconds) }),
    ]
  }
}
