import ErrandJSON
import Foundation

extension HTTPRequest {
  /// Returns a curl command for bash. With secrets, the command can be run unchanged and sends the same bytes as this
  /// request.
  ///
  /// By default, secrets are masked: secret header fields, the values of the query, and values in the body whose names
  /// suggest a secret. A body of unknown format is replaced by a text that states its size. A masked command is for
  /// logs and for people to read. If the body of the request comes from a stream, the command with secrets reads the
  /// body from the standard input. Header fields that curl adds by default are switched off if the request does not
  /// have them.
  ///
  /// - Parameter showingSecrets: True to include secrets instead of masking them. Do not log a command with secrets.
  public func curlCommand(showingSecrets: Bool = false) -> String {
    CurlCommand(request: self, showingSecrets: showingSecrets).line
  }
}

/// Composes the curl command line of a request.
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

  /// The options of the curl command that prevent curl from changing the URL, and the option that makes curl decode the
  /// content codings for which the request asks.
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

  /// Header fields that make curl describe the body as the transport does. By default, curl sends no `Content-Length`
  /// for a POST, PUT or PATCH request without a body, and adds `Expect` for a body over 1 MiB.
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

  /// Returns true if the body must be passed to curl through a pipe. A program argument cannot contain a zero byte or
  /// more than 128 KiB.
  private func isPiped(_ body: Data) -> Bool { body.count > 100_000 || body.contains(0) }

  private var pipe: String {
    guard showingSecrets, let body = request.body?.data, isPiped(body) else { return "" }
    return "printf -- \(ShellText.format(body)) | "
  }

  /// The text that the command contains instead of the bytes of a streamed body. The bytes were read while the request
  /// was sent, and they are no longer available.
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
  /// A copy in which all values whose names suggest a secret, such as `token`, are masked.
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
