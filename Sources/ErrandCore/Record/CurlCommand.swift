import ErrandSupport
import Foundation

extension HTTPRequest {
  /// Returns a curl command for bash. With secrets, the command can be run unchanged and sends the same bytes as this
  /// request.
  ///
  /// By default, secrets are masked: secret header fields, the values of the query, and header fields and values in the
  /// body whose names suggest a secret. A body of unknown format is replaced by a text that states its size. A masked
  /// command is for logs and for people to read. If the body of the request comes from a stream, the command with
  /// secrets reads the body from the standard input. Header fields that curl adds by default are switched off if the
  /// request does not have them.
  ///
  /// - Parameter showingSecrets: True to include secrets instead of masking them. Do not log a command with secrets.
  public func curlCommand(showingSecrets: Bool = false) -> String {
    CurlCommand(request: self, showingSecrets: showingSecrets).line
  }
}

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
    let own = request.fields.all.map { field -> Data in
      let value = showingSecrets ? field.sentBytes : Array(masked(field).utf8)
      let name = Array((field.name.rawValue + (value.isEmpty ? ";" : ": ")).utf8)
      return Data(name + value)
    }
    let defaults: [HTTPFieldName] = [.userAgent, .accept] + (request.body == nil ? [] : [.contentType])
    let missing = defaults.filter { !request.fields.contains($0) }.map { "\($0):" }
    let others = (missing + framing).map { Data($0.utf8) }
    return (own + others).flatMap { ["-H", ShellText.quoted($0)] }
  }

  private func masked(_ field: HTTPField) -> String {
    field.isSecret || SecretName.isSecret(field.name) ? Redaction.mask : FlightMask.maskedURLs(field.value)
  }

  /// Header fields that make curl describe the body as the transport does. By default, curl sends no `Content-Length`
  /// for a POST, PUT, PATCH or QUERY request without a body, and adds `Expect` for a body over 1 MiB.
  private var framing: [String] {
    guard let body = request.body else {
      return ["POST", "PUT", "PATCH", "QUERY"].contains(request.method.rawValue) ? ["Content-Length: 0"] : []
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
      return ["--data-raw", ShellText.quoted(showingSecrets ? data : BodyMask.masked(data, request.fields))]
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
}

/// Quotes texts so that bash reads exactly the same bytes.
///
/// The type compares bytes, not characters. In Swift, an apostrophe and a combining accent after it form one character,
/// which is not equal to an apostrophe. So a search for characters would not find this apostrophe, but the shell reads
/// it as the end of a quotation.
package enum ShellText {
  /// Returns a text, quoted as one word of a command line. The text must not contain a zero byte.
  package static func quoted(_ text: String) -> String { quoted(Data(text.utf8)) }

  /// Returns bytes, quoted as one word of a command line. No byte may be zero. Hidden scalars are escaped, so that the
  /// command can be shown as it is.
  static func quoted(_ bytes: Data) -> String {
    guard let text = String(validating: bytes, as: UTF8.self), !text.unicodeScalars.contains(where: Redaction.isHidden)
    else {
      return "$'" + bytes.map(ansi).joined() + "'"
    }
    if !text.isEmpty, text.utf8.allSatisfy(isPlain) { return text }
    return "'" + text.replacingBytes(of: "'", with: #"'\''"#) + "'"
  }

  /// Returns a format for the command `printf` that writes exactly these bytes, including zero bytes.
  static func format(_ bytes: Data) -> String {
    let text = bytes.map { byte -> String in
      switch byte {
      case 0x25: "%%"
      case 0x5C: #"\\"#
      case 0x20...0x7E where byte != 0x27: String(UnicodeScalar(byte))
      default: octal(byte)
      }
    }
    return "'" + text.joined() + "'"
  }

  /// Returns the text for a byte inside `$'…'`, a quotation of bash that may contain escapes.
  private static func ansi(_ byte: UInt8) -> String {
    switch byte {
    case 0x09: #"\t"#
    case 0x0A: #"\n"#
    case 0x0D: #"\r"#
    case 0x27: #"\'"#
    case 0x5C: #"\\"#
    case 0x20...0x7E: String(UnicodeScalar(byte))
    default: octal(byte)
    }
  }

  /// Returns the octal escape of a byte. The escape always has three digits, because bash would otherwise read a digit
  /// after the escape as a part of the escape.
  private static func octal(_ byte: UInt8) -> String {
    let digits = String(byte, radix: 8)
    return #"\"# + String(repeating: "0", count: 3 - digits.count) + digits
  }

  private static func isPlain(_ byte: UInt8) -> Bool {
    ASCII.isAlphanumeric(byte) || "-._/:@%+=,".utf8.contains(byte)
  }
}
