import Testing

@testable import ErrandRecord

struct LiveGateTests {
  private let gate = LiveGate(port: 8080, token: "0123456789abcdef0123456789abcdef")

  private func decision(_ lines: String...) -> LiveGate.Decision {
    gate.decision(Array(lines.joined(separator: "\r\n").utf8))
  }

  @Test func `token and host open the page`() {
    let path = "/0123456789abcdef0123456789abcdef/"
    #expect(decision("GET \(path) HTTP/1.1", "Host: 127.0.0.1:8080") == .page)
    #expect(decision("GET \(path)events HTTP/1.1", "X: y", "HOST:127.0.0.1:8080 ") == .events)
  }

  @Test(arguments: [
    "/", "", "//", "/0123456789abcdef0123456789abcdef", "/0123456789abcdef0123456789abcdee/",
    "/0123456789ABCDEF0123456789ABCDEF/", "/0123456789abcdef0123456789abcdef/other",
    "/0123456789abcdef0123456789abcdef/events?x", "/favicon.ico", "*",
    "http://127.0.0.1:8080/0123456789abcdef0123456789abcdef/",
  ])
  func `other targets are not found`(target: String) {
    #expect(decision("GET \(target) HTTP/1.1", "Host: 127.0.0.1:8080") == .rejected(404, "Not Found"))
  }

  @Test(arguments: [
    [], ["Host: localhost:8080"], ["Host: 127.0.0.1"], ["Host: 127.0.0.1:80801"], ["Host: evil.example:8080"],
    ["Host: 127.0.0.1:8080", "Host: 127.0.0.1:8080"], ["Host: 127.0.0.1:8080.evil.example"], ["Hos: 127.0.0.1:8080"],
  ])
  func `other hosts are not found`(fields: [String]) {
    let head = ["GET /0123456789abcdef0123456789abcdef/ HTTP/1.1"] + fields
    #expect(gate.decision(Array(head.joined(separator: "\r\n").utf8)) == .rejected(404, "Not Found"))
  }

  @Test(arguments: ["POST", "HEAD", "OPTIONS", "get", "PUT"])
  func `other methods are not allowed`(method: String) {
    let line = "\(method) /0123456789abcdef0123456789abcdef/ HTTP/1.1"
    #expect(decision(line, "Host: 127.0.0.1:8080") == .rejected(405, "Method Not Allowed"))
  }

  @Test(arguments: ["", "GET", "GET / HTTP/2.0", "GET /  HTTP/1.1", "\u{16}\u{3}\u{1}", "PRI * HTTP/2.0"])
  func `other bytes are rejected`(line: String) {
    #expect(decision(line) == .rejected(400, "Bad Request"))
  }

  @Test(arguments: [("", "", true), ("a", "a", true), ("a", "b", false), ("ab", "a", false), ("ab", "cb", false)])
  func `comparison sees each byte`(left: String, right: String, areEqual: Bool) {
    #expect(LiveGate.areEqual(Array(left.utf8)[...], Array(right.utf8)[...]) == areEqual)
  }
}
