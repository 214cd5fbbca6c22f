import ErrandJSON
import Foundation

extension HTTPRequest {
  /// The request as a command line for bash and curl that sends the same bytes.
  ///
  /// Secret fields, the values of the query and values under secret names in the body are masked. A body of unknown
  /// format is replaced by its size. The masked line is for logs and for people to read. With secrets the line can be
  /// run unchanged. If the body was read from a stream, the command then reads the body from the standard input.
  /// Default fields of curl that the request does not have are switched off.
  ///
  /// - Parameter showingSecrets: Whether secrets are included. Do not log a line with secrets.
  public func curlCommand(showingSecrets: Bool = false) -> String {
    CurlCommand(request: self, showingSecrets: showingSecrets).line
  }
}

/// Composes the command line.
private struct CurlCommand {
  let request: HTTPRequest
  let showingSecrets: Bool

  var line: String {
    let words = ["curl"] + method + switches + [ShellText.quoted(url)] + fields + body
    return pipe + words.joined(separator: " ")
  }

  private var url: String { showingSecrets ? request.url.string : Redaction.url(request.url.string) }

  private var method: [String] {
    switch (request.method, request.body) {
    case (.head, nil): ["--head"]
    case (.get, nil): []
    default: ["-X", ShellText.quoted(request.method.rawValue)]
    }
  }

  /// Options that stop curl from rewriting the URL, and that make it decode the requested codings.
  private var switches: [String] {
    var switches: [String] = []
    if url.utf8.contains(where: { "[]{}".utf8.contains($0) }) { switches.append("--globoff") }
    let hasDots = request.url.path.contains("/.")  // ASCII
    if hasDots { switches.append("--path-as-is") }
    if request.fields.contains(.acceptEncoding) { switches.append("--compressed") }
    return switches
  }

  private var fields: [String] {
    let own = request.fields.all.map { field in
      let value = field.isSecret && !showingSecrets ? Redaction.mask : field.value
      return value.isEmpty ? "\(field.name);" : "\(field.name): \(value)"
    }
    let defaults: [HTTPFieldName] = [.userAgent, .accept] + (request.body == nil ? [] : [.contentType])
    let missing = defaults.filter { !request.fields.contains($0) }.map { "\($0):" }
    return (own + missing + framing).flatMap { ["-H", ShellText.quoted($0)] }
  }

  /// The fields about the body in which curl would differ from the transport: `Content-Length` of an empty body, and
  /// `Expect`, which curl adds for bodies over 1 MiB.
  private var framing: [String] {
    guard let body = request.body else {
      return ["POST", "PUT", "PATCH"].contains(request.method.rawValue) ? ["Content-Length: 0"] : []
    }
    if body.expectsContinue { return ["Expect: 100-continue"] }
    return body.length.map { $0 <= 1 << 20 } == true ? [] : ["Expect:"]
  }

  // MARK: - The body

  private var body: [String] {
    switch request.body?.origin {
    case nil: return []
    case .file(let path): return ["--data-binary", ShellText.quoted("@\(path)")]
    case .other: return ["--data-binary", showingSecrets ? "@-" : ShellText.quoted(note)]
    case .memory(let data):
      if showingSecrets, isPiped(data) { return ["--data-binary", "@-"] }
      return ["--data-raw", ShellText.quoted(showingSecrets ? data : masked(data))]
    }
  }

  /// A program argument cannot contain a zero byte or more than 128 KiB, so such a body is passed through a pipe.
  private func isPiped(_ body: Data) -> Bool { body.count > 100_000 || body.contains(0) }

  private var pipe: String {
    guard showingSecrets, let body = request.body?.data, isPiped(body) else { return "" }
    return "printf -- \(ShellText.format(body)) | "
  }

  /// The text that replaces a body that was read while it was sent. The bytes of such a body are not available any
  /// more.
  private var note: String { "\(Redaction.mask) \(request.body?.measure ?? "none")" }

  private func masked(_ body: Data) -> Data {
    if body.isEmpty { return body }
    let type = request.fields[.contentType].flatMap { MediaType($0) }
    if type?.isJSON == true, let text = try? JSONValue(parsing: body).masked.serialized() { return text }
    if type?.essence == "application/x-www-form-urlencoded" {
      return Data(Redaction.url("?" + String(decoding: body, as: UTF8.self)).utf8.dropFirst())
    }
    return Data("\(Redaction.mask) \(body.count) bytes".utf8)
  }
}

extension JSONValue {
  /// A copy in which all values under secret names are masked.
  fileprivate var masked: JSONValue {
    switch content {
    case .object(let members):
      .object(
        Dictionary(
          uniqueKeysWithValues: members.map { key, value in
            (key, JSONMask.isSecret(key: key) ? .string(Redaction.mask) : value.masked)
          }))
    case .array(let elements): .array(elements.map(\.masked))
    default: self
    }
  }
}
