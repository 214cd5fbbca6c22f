import ErrandCore
import ErrandHTTP
import ErrandSupport

extension HTTPArchive.Request {
  /// A curl command for bash that sends this request; nil if the URL has another scheme than HTTP, or if the method or
  /// the name of a field is no token (RFC 9110 section 5.6.2), so that curl could not send it.
  ///
  /// Secrets in the archive are part of the command: take the command from ``HTTPArchive/masked`` for people to read.
  public var curlCommand: String? {
    guard hasWebScheme, ASCII.isToken(method) else { return nil }
    let sent = headers.filter { !Self.isImplied($0.name) }
    guard sent.allSatisfy({ ASCII.isToken($0.name.rawValue) }) else { return nil }
    let verb =
      method == "HEAD" && body == nil ? ["--head"] : method == "GET" && body == nil ? [] : ["-X", Self.quoted(method)]
    var words = ["curl"] + verb
    if url.utf8.contains(where: { "[]{}".utf8.contains($0) }) { words.append("--globoff") }
    if headers.contains(where: { $0.name == .acceptEncoding }) { words.append("--compressed") }
    words.append(Self.quoted(url))
    for field in sent {
      words += ["-H", Self.quoted(field.value.isEmpty ? "\(field.name);" : "\(field.name): \(field.value)")]
    }
    if let body { words += ["--data-raw", Self.quoted(body)] }
    return words.joined(separator: " ")
  }

  /// Whether curl can request the URL, and cannot mistake it for an option.
  private var hasWebScheme: Bool {
    ["http://", "https://"].contains { url.lowercased().utf8.starts(with: $0.utf8) }
  }

  /// Whether curl adds a field itself. Browsers also record the pseudo-header fields of HTTP/2, such as `:path`.
  private static func isImplied(_ name: HTTPFieldName) -> Bool {
    name.rawValue.utf8.first == UInt8(ascii: ":") || ["Content-Length", "Host", "Accept-Encoding"].contains(name)
  }

  /// A word of the command. An argument of a program cannot contain a zero byte.
  private static func quoted(_ text: String) -> String {
    ShellText.quoted(text.replacingBytes(of: "\0", with: "\u{FFFD}"))
  }
}
