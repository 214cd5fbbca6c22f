import Errand
import ErrandJSON
import ErrandTesting
import Foundation
import Testing

@testable import ErrandRecord

struct FlightPageTests {
  private struct Login: APIRequest {
    var path: Path { "/login?access_token=CANARY-query-1" }
    var method: HTTPMethod { .post }
    var headers: RequestHeaders { ["Authorization": "Bearer CANARY-bearer-2", "Cookie": "session=CANARY-cookie-3"] }
    var body: RequestBody? { .json(["password": "CANARY-password-4"]) }
    typealias Response = JSONValue
  }

  /// The page of an archive with one entry whose URL is the given text.
  private func page(url: String) throws -> String {
    let entry: JSONValue = ["request": ["method": "GET", "url": .string(url)], "response": ["status": 200]]
    let archive = try JSONValue.object(["log": ["entries": [entry]]]).serialized()
    return String(decoding: try FlightPage(archive: archive).html, as: UTF8.self)
  }

  @Test(arguments: [
    "</script><script>alert(1)</script>", "<!--<script>",
    "\u{2028}\u{2029}", "]]>&lt;&amp;",
    "\"><img src=x onerror=y>",
    "</SCRIPT >", "é\u{301}<\u{338}/script>",
  ])
  func `hostile text never becomes markup`(hostile: String) throws {
    let html = try page(url: hostile)
    let plain = try page(url: "x")
    for mark in ["<", ">", "&", "\u{2028}", "\u{2029}"] {
      let count = { (text: String) in text.unicodeScalars.filter { mark.unicodeScalars.first == $0 }.count }
      #expect(count(html) == count(plain), "\(mark)")
    }
  }

  @Test(arguments: ["<>&\u{2028}\u{2029}", "e\u{2027}\u{202A}", "plain", "", "\u{20AC}<"])
  func `embedded data keeps its value`(text: String) throws {
    let json = try JSONValue.string(text).serialized()
    #expect(try JSONValue(parsing: PageDocument.embeddable(json)).stringValue == text)
  }

  @Test func `page forbids every request`() throws {
    let html = try page(url: "https://example.com/")
    let policy = try #require(html.firstMatch(of: /Content-Security-Policy" content="([^"]*)"/)).1
    #expect(policy.hasPrefix("default-src 'none'; script-src 'nonce-"))
    #expect(!policy.contains("unsafe") && !policy.contains("connect-src") && !policy.contains("http"))
  }

  @Test func `each page has another nonce`() throws {
    let nonces = try (0..<20).map { _ in
      let html = try page(url: "/")
      return String(try #require(html.firstMatch(of: /script nonce="([0-9a-f]{32})"/)).1)
    }
    #expect(Set(nonces).count == 20)
  }

  @Test func `script cannot end its element`() {
    let text = PageScript.all.lowercased() + PageStyle.all.lowercased()
    for mark in ["</script", "<!--", "</style"] { #expect(!text.contains(mark)) }
  }

  @Test(arguments: [
    ("{", "not JSON"), ("{}", "no list `log.entries`"), (#"{"log":{"entries":{}}}"#, "no list `log.entries`"),
    ("", "not JSON"),
  ])
  func `other data is rejected`(text: String, reason: String) {
    let error = #expect(throws: FlightPageError.self) { try FlightPage(archive: Data(text.utf8)) }
    #expect(error?.description.contains(reason) == true)
  }

  @Test func `page shows no secret`() async throws {
    let server = try LoopbackServer { _ in
      .json(#"{"token":"CANARY-token-5"}"#).setting("Set-Cookie", to: "id=CANARY-cookie-6")
    }
    var configuration = ClientConfiguration(baseURL: server.url)
    configuration.record = .ring(calls: 5, bodyLimit: 4_096)
    let client = APIClient(configuration)
    _ = await client.outcome(of: Login())
    let html = String(decoding: try FlightPage(archive: client.flightRecord.har()).html, as: UTF8.self)
    #expect(server.requests.count == 1 && html.contains("Login"))
    #expect(!html.contains("CANARY"))
  }
}
