import ErrandCore
import ErrandJSON
public import ErrandRecord
import ErrandSupport
public import Foundation

extension Recording {
  /// Reads an HTTP archive (HAR 1.2), such as the export of a browser, or a flight file, as a recording.
  ///
  /// ```swift
  /// let replay = ReplayTransport(try Recording(archive: "Fixtures/shop.har"), afterLast: .refused)
  /// ```
  ///
  /// - Parameters:
  ///   - path: The path of the file.
  ///   - mask: The values to mask, in addition to the values whose names suggest a secret.
  /// - Throws: ``RecordingError/unreadable(path:reason:)`` or ``RecordingError/damaged(path:reason:)``, whose reason
  ///   names the first wrong member, such as `log.entries[3].request.url`.
  public init(archive path: String, mask: RecordingMask = RecordingMask()) throws(RecordingError) {
    let archive: HTTPArchive
    do throws(HTTPArchiveError) {
      archive = try HTTPArchive(contentsOf: URL(filePath: path))
    } catch {
      if error.code == .unreadable { throw RecordingError.unreadable(path: path, reason: error.description) }
      throw RecordingError.damaged(path: path, reason: Self.withoutFullStop(error.description))
    }
    try self.init(archive, from: path, mask: mask)
  }

  /// Reads an HTTP archive (HAR 1.2) or a flight file as a recording, in the same way as with a path.
  ///
  /// - Parameters:
  ///   - file: The file.
  ///   - mask: The values to mask, in addition to the values whose names suggest a secret.
  /// - Throws: ``RecordingError/unreadable(path:reason:)`` or ``RecordingError/damaged(path:reason:)``.
  public init(archive file: URL, mask: RecordingMask = RecordingMask()) throws(RecordingError) {
    try self.init(archive: file.path, mask: mask)
  }

  /// Converts an archive to a recording.
  ///
  /// - Each exchange over HTTP becomes an exchange of the recording, in the order of the archive. Entries with another
  ///   scheme, such as `data:`, are left out, and calls of Errand that sent no request, such as cache hits.
  /// - Secrets are masked as in every recording.
  /// - An entry with a failure becomes a failure of the kind `other`. If an entry has no response, or if its body is
  ///   missing, its request fails with the kind `notRecorded`, and the message names the entry. A body of Errand that is
  ///   no JSON and shorter than its `bodySize` counts as missing, because the limit of the record has cut it.
  /// - The length field of a response is corrected, because the body in an archive is decoded.
  ///
  /// - Parameters:
  ///   - archive: The archive. Its values can be changed before.
  ///   - name: The name of the archive in errors.
  ///   - mask: The values to mask, in addition to the values whose names suggest a secret.
  /// - Throws: ``RecordingError/damaged(path:reason:)``, whose reason names the first wrong member.
  public init(
    _ archive: HTTPArchive, from name: String = "the archive", mask: RecordingMask = RecordingMask()
  ) throws(RecordingError) {
    var exchanges: [RecordedExchange] = []
    for (index, entry) in archive.entries.enumerated() where entry.isExchange {
      do throws(RecordingFlaw) {
        exchanges.append(try ArchivedExchange(entry, index).recorded())
      } catch {
        throw RecordingError.damaged(path: name, reason: error.description)
      }
    }
    self = Masking.recording(of: exchanges, by: mask)
  }

  private static func withoutFullStop(_ text: String) -> String {
    text.utf8.last == UInt8(ascii: ".") ? String(text.unicodeScalars.dropLast()) : text
  }
}

extension HTTPArchive.Entry {
  /// Whether the entry is an exchange over HTTP.
  fileprivate var isExchange: Bool {
    details?.attempt != 0 && ["http://", "https://"].contains { request.url.lowercased().utf8.starts(with: $0.utf8) }
  }
}

/// An entry of an archive that becomes an exchange of a recording.
private struct ArchivedExchange {
  private let entry: HTTPArchive.Entry
  private let path: JSONPath

  init(_ entry: HTTPArchive.Entry, _ index: Int) {
    self.entry = entry
    path = JSONPath.root.appending(key: "log").appending(key: "entries").appending(index: index)
  }

  func recorded() throws(RecordingFlaw) -> RecordedExchange {
    let request = try request()
    return RecordedExchange(request: request, answer: try answer(to: request))
  }

  private func request() throws(RecordingFlaw) -> HTTPRequest {
    let url: HTTPURL
    do {
      // A mask of Errand is not part of a URL that can be sent.
      url = try HTTPURL(Self.withMark(entry.request.url))
    } catch {
      throw flaw("request", "url", error.description)
    }
    let body = entry.request.body.map { HTTPBody(Data((entry.details == nil ? $0 : Self.withMark($0)).utf8)) }
    return HTTPRequest(
      method: HTTPMethod(entry.request.method), url: url, fields: Self.fields(entry.request.headers), body: body)
  }

  /// A text with the mask of recordings, which a replay compares with the values that are sent, instead of Errand's.
  private static func withMark(_ text: String) -> String {
    text.replacingBytes(of: Redaction.mask, with: RecordingMask.mark)
  }

  private func answer(to request: HTTPRequest) throws(RecordingFlaw) -> ScriptedAnswer {
    let response = entry.response
    guard let status = response.status else { return missing(request, "response", response.failure) }
    guard (100...999).contains(status) else {
      throw flaw("response", "status", "a status must be a number from 100 to 999")
    }
    let hasContent = request.method != .head && status != 204 && status != 304
    let body = try body()
    if hasContent, lacksBody(body, status) { return missing(request, "response body", response.failure) }
    var answer = ScriptedAnswer(status: status, fields: Self.fields(response.headers), body: body)
    answer.head.reason = response.reason
    answer.head.version = Self.version(response.version)
    if let failure = response.failure { answer.breakage = TransportFailure(.other, failure) }
    if hasContent, answer.breakage == nil { answer.fitLength() }
    return answer
  }

  private func body() throws(RecordingFlaw) -> Data {
    guard let text = entry.response.body else { return Data() }
    guard entry.response.isBase64 else { return Data(text.utf8) }
    guard let bytes = Data(base64Encoded: text) else {
      throw RecordingFlaw(
        path: path.appending(key: "response").appending(key: "content").appending(key: "text"),
        reason: "the value is not valid Base64")
    }
    return bytes
  }

  /// Whether the archive does not contain the body of the response, or only its first bytes.
  private func lacksBody(_ body: Data, _ status: Int) -> Bool {
    guard let text = entry.response.body else { return announcesBody(status) }
    // A flight record contains only the length of a body that it does not show.
    if FlightMask.isLength(text) { return true }
    guard entry.details != nil, let size = entry.response.bodySize, body.count < size else { return false }
    // Masked bodies and JSON, which is written again, may be shorter. A body that the limit has cut is neither.
    return !text.contains(bytesOf: Redaction.mask) && (try? JSONValue(parsing: body)) == nil
  }

  /// Whether the response had a body, which the archive does not contain. Recorders leave out the body of a redirect,
  /// which clients do not read. In Errand's archives, only the length of a body that was streamed is unknown.
  private func announcesBody(_ status: Int) -> Bool {
    if StatusRule.isRedirect(status) { return false }
    let size = entry.response.bodySize ?? (entry.details == nil ? 0 : .max)
    return size > 0 || entry.response.headers.contains { $0.name == .contentLength && $0.value != "0" }
  }

  private func missing(_ request: HTTPRequest, _ part: String, _ failure: String?) -> ScriptedAnswer {
    if let failure { return .failure(.other, failure) }
    return .failure(
      .notRecorded,
      "The archive contains no \(part) for \(request.method) \(request.url) (\(path)). Export the archive with the "
        + "contents of responses, or set the `answer` of this exchange.")
  }

  private func flaw(_ message: String, _ member: String, _ reason: String) -> RecordingFlaw {
    RecordingFlaw(path: path.appending(key: message).appending(key: member), reason: reason)
  }

  /// The fields of a message, without the pseudo-header fields of HTTP/2 that browsers record.
  private static func fields(_ list: [HTTPField]) -> HTTPFields {
    HTTPFields(list.filter { ASCII.isToken($0.name.rawValue) })
  }

  /// The version for its name, which browsers write in several ways.
  private static func version(_ name: String) -> ResponseHead.Version {
    switch name.lowercased() {
    case "http/1.0": .http1_0
    case "h2", "http/2", "http/2.0": .http2
    case "h3", "http/3", "http/3.0": .http3
    default: .http1_1
    }
  }
}
