import Foundation

/// Decides what a request to the live page gets.
struct LiveGate: Sendable {
  enum Decision: Equatable {
    case page
    case events
    /// A rejection with a status and its reason phrase.
    case rejected(Int, String)
  }

  let port: Int
  let token: String

  /// The decision about the bytes of a request line and a header section, without the blank line.
  ///
  /// A request without the token or with another `Host` (DNS rebinding) gets status 404, so it does not learn whether
  /// the page exists.
  func decision(_ head: [UInt8]) -> Decision {
    let lines = String(decoding: head, as: UTF8.self).split(separator: "\r\n", omittingEmptySubsequences: false)
    let parts = lines.first?.split(separator: " ", omittingEmptySubsequences: false) ?? []
    guard parts.count == 3, parts[2] == "HTTP/1.1" || parts[2] == "HTTP/1.0" else {
      return .rejected(400, "Bad Request")
    }
    guard Self.hosts(lines.dropFirst()) == ["127.0.0.1:\(port)"], let rest = afterToken(parts[1]) else {
      return .rejected(404, "Not Found")
    }
    guard rest == "" || rest == "events" else { return .rejected(404, "Not Found") }
    guard parts[0] == "GET" else { return .rejected(405, "Method Not Allowed") }
    return rest == "events" ? .events : .page
  }

  private static func hosts(_ lines: ArraySlice<Substring>) -> [String] {
    lines.compactMap { line in
      guard let colon = line.utf8.firstIndex(of: UInt8(ascii: ":")), line[..<colon].lowercased() == "host" else {
        return nil
      }
      return line[colon...].dropFirst().trimmingCharacters(in: .whitespaces)
    }
  }

  /// The part of a target after `/TOKEN/`; nil if the token is another.
  private func afterToken(_ target: Substring) -> String? {
    let bytes = Array(target.utf8), wanted = Array("/\(token)/".utf8)
    guard bytes.count >= wanted.count, Self.areEqual(bytes.prefix(wanted.count), wanted[...]) else { return nil }
    return String(decoding: bytes.dropFirst(wanted.count), as: UTF8.self)
  }

  /// Compares bytes in a time that depends only on their number, so that the time reveals no part of the token.
  static func areEqual(_ left: ArraySlice<UInt8>, _ right: ArraySlice<UInt8>) -> Bool {
    guard left.count == right.count else { return false }
    return zip(left, right).reduce(0 as UInt8) { $0 | ($1.0 ^ $1.1) } == 0
  }

  /// The response to a request. The response to ``Decision/events`` has no end.
  static func response(_ decision: Decision) -> Data {
    switch decision {
    case .page:
      let nonce = PageDocument.nonce()
      let policy = "Content-Security-Policy: \(PageDocument.policy(nonce, .live)); frame-ancestors 'none'\r\n"
      let page = PageDocument.html(archive: Data(), nonce: nonce, mode: .live)
      return head(200, "OK", "text/html; charset=utf-8", policy + "Content-Length: \(page.count)\r\n") + page
    case .events: return head(200, "OK", "text/event-stream", "")
    case .rejected(let status, let reason):
      let allow = status == 405 ? "Allow: GET\r\n" : ""
      return head(status, reason, "text/plain", allow + "Content-Length: 0\r\n")
    }
  }

  private static func head(_ status: Int, _ reason: String, _ type: String, _ fields: String) -> Data {
    Data(
      """
      HTTP/1.1 \(status) \(reason)\r
      Content-Type: \(type)\r
      Cache-Control: no-store\r
      Cross-Origin-Resource-Policy: same-origin\r
      Referrer-Policy: no-referrer\r
      X-Content-Type-Options: nosniff\r
      Connection: close\r
      \(fields)\r

      """.utf8)
  }
}
