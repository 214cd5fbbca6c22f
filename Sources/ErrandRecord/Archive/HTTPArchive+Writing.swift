import ErrandCore
import ErrandJSON
import Foundation

extension HTTPArchive.Entry {
  /// The entry as a member of an archive.
  var json: JSONValue {
    .object(
      HARMembers.entry(
        startedAt: startedAt, time: HARMembers.milliseconds(time), request: request.json, response: response.json,
        timings: timings.members, address: serverAddress, isFromCache: isFromCache, errand: details?.json))
  }
}

extension HTTPArchive.Request {
  fileprivate var json: JSONValue {
    HARMembers.request(method, url, version: version, headers, body: body, size: bodySize)
  }
}

extension HTTPArchive.Response {
  fileprivate var json: JSONValue {
    .object(
      HARMembers.response(
        status, reason, version: version, headers, body: body, isBase64: isBase64, size: bodySize,
        mediaType: mediaType, failure: failure))
  }
}

extension HTTPArchive.Timings {
  fileprivate var members: HARTimings {
    HARTimings(blocked: blocked, dns: dns, connect: connect, tls: tls, send: send, wait: wait, receive: receive)
  }
}

extension HTTPArchive.Details {
  fileprivate var json: JSONValue {
    var members = HARMembers.errand(call: call, requestType: requestType, attempt: attempt, tag: tag)
    members["run"] = run.map { .string($0) }
    if let end { members.merge(end.members) { $1 } }
    return .object(members)
  }
}

extension HTTPArchive.End {
  fileprivate var members: [String: JSONValue] {
    // The lists end at the first decision of which the kind or the offset is unknown.
    HARMembers.end(
      startedAt: startedAt, duration: duration,
      outcome: HARMembers.outcome(
        status: status, origin: origin, failure: failure.map { ($0.stage, $0.code, $0.message) }),
      decisions: decisions.map(\.text), kinds: decisions.prefix { $0.kind != nil }.compactMap(\.kind),
      offsets: decisions.prefix { $0.offset != nil }.compactMap(\.offset))
  }
}
