import ErrandCore
import ErrandJSON
import Foundation

/// A member of an HTTP archive that is being read, with its path.
struct ArchiveMember {
  /// The largest number of elements of a list in an entry: header fields, form parameters, decisions.
  static let mostElements = 10_000

  let value: JSONValue
  let path: String

  init(_ value: JSONValue, path: String = "") { (self.value, self.path) = (value, path) }

  /// The member with a key; nil if it is missing or null.
  func optional(_ key: String) -> ArchiveMember? {
    guard let member = value[key], !member.isNull else { return nil }
    return ArchiveMember(member, path: path.isEmpty ? key : "\(path).\(key)")
  }

  /// The member with a key. Throws if it is missing or null.
  func member(_ key: String) throws(HTTPArchiveError) -> ArchiveMember {
    if let member = optional(key) { return member }
    let here = path.isEmpty ? key : "\(path).\(key)"
    guard case .object = value.content else { throw mismatch("an object") }
    throw HTTPArchiveError(
      .missing, at: here, "\(here) is missing. HAR 1.2 requires it: add it, or export the archive again.")
  }

  func string() throws(HTTPArchiveError) -> String {
    guard let text = value.stringValue else { throw mismatch("a string") }
    return text
  }

  func string(_ key: String) throws(HTTPArchiveError) -> String { try member(key).string() }

  func optionalString(_ key: String) throws(HTTPArchiveError) -> String? { try optional(key)?.string() }

  func integer() throws(HTTPArchiveError) -> Int {
    guard value.doubleValue != nil else { throw mismatch("a number") }
    guard let number = value.intValue else { throw wrong("is not an integer") }
    return number
  }

  /// A duration in milliseconds.
  func milliseconds() throws(HTTPArchiveError) -> Duration {
    guard let number = value.doubleValue else { throw mismatch("a number of milliseconds") }
    // Longer durations would overflow.
    return .milliseconds(min(max(number, -1e12), 1e12))
  }

  /// A duration in milliseconds; nil if it is missing or negative, which means that it was not measured.
  func phase(_ key: String) throws(HTTPArchiveError) -> Duration? {
    guard let time = try optional(key)?.milliseconds(), time >= .zero else { return nil }
    return time
  }

  /// A number of bytes; nil if it is missing or negative, which means that it is unknown.
  func size(_ key: String) throws(HTTPArchiveError) -> Int? {
    guard let size = try optional(key)?.integer(), size >= 0 else { return nil }
    return size
  }

  /// A point in time in the format of ISO 8601.
  func date() throws(HTTPArchiveError) -> Date {
    let text = try string()
    for hasFraction in [true, false] {
      let style = Date.ISO8601FormatStyle(includingFractionalSeconds: hasFraction)
      if let date = try? Date(text, strategy: style) { return date }
    }
    throw wrong("is not a time in the format 2026-01-31T12:00:00.000Z")
  }

  func elements(atMost most: Int) throws(HTTPArchiveError) -> [ArchiveMember] {
    guard let values = value.arrayValue else { throw mismatch("a list") }
    guard values.count <= most else {
      throw HTTPArchiveError(
        .tooLarge, at: path, "\(path) has \(values.count) elements, but at most \(most) are read. Export fewer.")
    }
    return values.enumerated().map { ArchiveMember($1, path: "\(path)[\($0)]") }
  }

  /// The header fields of a message. Those whose names suggest a secret are secret.
  func headers(_ key: String) throws(HTTPArchiveError) -> [HTTPField] {
    var fields: [HTTPField] = []
    for pair in try member(key).elements(atMost: Self.mostElements) {
      let name = HTTPFieldName(try pair.string("name"))
      fields.append(HTTPField(name, try pair.string("value"), isSecret: SecretName.isSecret(name)))
    }
    return fields
  }

  func wrong(_ problem: String) -> HTTPArchiveError {
    HTTPArchiveError(.wrongValue, at: path, "\(path) \(problem). Correct it, or export the archive again.")
  }

  private func mismatch(_ expected: String) -> HTTPArchiveError {
    let name = path.isEmpty ? "The archive" : path
    return HTTPArchiveError(
      .wrongType, at: path, "\(name) is \(value.typeName), not \(expected). Correct it, or export the archive again.")
  }
}

extension ArchiveMember {
  /// Reads this value as a whole archive.
  func archive() throws(HTTPArchiveError) -> HTTPArchive {
    let log = try member("log")
    let version = try log.member("version")
    guard try version.string().hasPrefix("1.") else { throw version.wrong("is not a version 1.x of HAR") }
    let creator = try log.member("creator")
    var archive = HTTPArchive(creator: try creator.string("name"), creatorVersion: try creator.string("version"))
    for entry in try log.member("entries").elements(atMost: HTTPArchive.mostEntries) {
      archive.entries.append(try entry.entry())
    }
    return archive
  }

  /// Reads this value as an entry.
  func entry() throws(HTTPArchiveError) -> HTTPArchive.Entry {
    let startedAt = try member("startedDateTime").date()
    let time = try member("time").milliseconds()
    return HTTPArchive.Entry(
      startedAt: startedAt, time: time, request: try member("request").request(),
      response: try member("response").response(), timings: try member("timings").timings(),
      serverAddress: try optionalString("serverIPAddress"), isFromCache: optional("_fromCache") != nil,
      details: try optional("_errand")?.details(startedAt, time))
  }

  private func request() throws(HTTPArchiveError) -> HTTPArchive.Request {
    HTTPArchive.Request(
      method: try string("method"), url: try string("url"), version: try string("httpVersion"),
      headers: try headers("headers"), body: try optional("postData")?.postedText(), bodySize: try size("bodySize"))
  }

  /// The text of `postData`. Firefox writes forms as `params` without a text.
  private func postedText() throws(HTTPArchiveError) -> String? {
    if let text = try optionalString("text"), !text.isEmpty { return text }
    guard let params = optional("params") else { return try optionalString("text") }
    var pairs: [String] = []
    for pair in try params.elements(atMost: Self.mostElements) {
      pairs.append("\(try pair.string("name"))=\(try pair.optionalString("value") ?? "")")
    }
    return pairs.isEmpty ? try optionalString("text") : pairs.joined(separator: "&")
  }

  private func response() throws(HTTPArchiveError) -> HTTPArchive.Response {
    let status = try member("status")
    let code = try status.integer()
    guard (0...999).contains(code) else { throw status.wrong("is not a status from 0 to 999") }
    let content = try member("content")
    return HTTPArchive.Response(
      status: code == 0 ? nil : code, reason: try string("statusText"), version: try string("httpVersion"),
      headers: try headers("headers"), body: try content.optionalString("text"),
      isBase64: try content.optionalString("encoding") == "base64", bodySize: try content.size("size"),
      mediaType: try content.optionalString("mimeType") ?? "", failure: try optionalString("_error"))
  }

  private func timings() throws(HTTPArchiveError) -> HTTPArchive.Timings {
    HTTPArchive.Timings(
      blocked: try phase("blocked"), dns: try phase("dns"), connect: try phase("connect"), tls: try phase("ssl"),
      send: try phase("send"), wait: try phase("wait"), receive: try phase("receive"))
  }

  // MARK: - The members of Errand

  private func details(_ startedAt: Date, _ time: Duration) throws(HTTPArchiveError) -> HTTPArchive.Details {
    let call = try member("call")
    guard let number = UInt64(exactly: try call.integer()) else { throw call.wrong("is negative") }
    return HTTPArchive.Details(
      call: number, run: try optionalString("run"), requestType: try optionalString("requestType") ?? "",
      attempt: try optional("attempt")?.integer() ?? 0, tag: try optionalString("tag"),
      end: optional("decisions") == nil ? nil : try end(startedAt, time))
  }

  private func end(_ startedAt: Date, _ time: Duration) throws(HTTPArchiveError) -> HTTPArchive.End {
    let outcome = optional("outcome")
    return HTTPArchive.End(
      startedAt: try optional("startedAt")?.date() ?? startedAt,
      duration: try optional("duration")?.milliseconds() ?? time,
      status: try outcome?.optional("status")?.integer(), origin: try outcome?.optionalString("origin"),
      failure: try outcome?.optional("failure")?.failure(), decisions: try decisions())
  }

  private func failure() throws(HTTPArchiveError) -> HTTPArchive.Failure {
    HTTPArchive.Failure(stage: try string("stage"), code: try string("code"), message: try string("message"))
  }

  private func decisions() throws(HTTPArchiveError) -> [HTTPArchive.Decision] {
    let kinds = try optional("kinds")?.elements(atMost: Self.mostElements) ?? []
    let offsets = try optional("offsets")?.elements(atMost: Self.mostElements) ?? []
    var decisions: [HTTPArchive.Decision] = []
    for (index, sentence) in try member("decisions").elements(atMost: Self.mostElements).enumerated() {
      decisions.append(
        HTTPArchive.Decision(
          text: try sentence.string(), kind: kinds.indices.contains(index) ? try kinds[index].string() : nil,
          offset: offsets.indices.contains(index) ? try offsets[index].milliseconds() : nil))
    }
    return decisions
  }
}
