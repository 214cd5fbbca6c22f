import Errand
import ErrandCurl
@testable import ErrandCore
import ErrandTesting
import Foundation
import Testing

/// Secrets in unexpected places.
struct SecretAttackTests {
  @Test(arguments: [
    ("http://h/p?MARKER", "http://h/p?•••"), ("http://h/p?a=1&MARKER&b=", "http://h/p?a=•••&•••&b="),
    ("http://h/p?MARKER?x", "http://h/p?•••"), ("/p#MARKER", "/p#•••"), ("/p?a=MARKER#MARKER", "/p?a=•••#•••"),
    ("//u:MARKER@h/p", "//•••@h/p"), ("http://h/p?", "http://h/p?"), ("http://h/p?a=&", "http://h/p?a=&"),
    ("http://h/p?=MARKER", "http://h/p?=•••"),
    // A separator is recognised even if a combining accent follows it.
    ("http://h/p?\u{301}MARKER", "http://h/p?•••"), ("http://h/p?a=\u{301}MARKER", "http://h/p?a=•••"),
    ("http://h/p#\u{301}MARKER", "http://h/p#•••"), ("http://u:MARKER@\u{301}h/", "http://•••@\u{301}h/"),
    ("http://\u{301}u:MARKER@h/", "http://•••@h/"), ("http:/\u{301}/u", "http:/\u{301}/u"),
  ])
  func `every part of a URL is masked`(url: String, shown: String) {
    #expect(Redaction.url(url) == shown)
  }

  @Test func `dump of a response shows no secret`() async throws {
    let server = try LoopbackServer { _ in
      .ok("ok").setting("Set-Cookie", to: "sid=MARKER").setting("Location", to: "/?MARKER")
        .setting("Content-Location", to: "/?a=MARKER#MARKER")
        .setting("Link", to: "<https://u:MARKER@h.example/p?token=MARKER>; rel=\"next\"")
        .setting("Refresh", to: "5; url=/p?token=MARKER").setting("Referer", to: "http://h.example/p?token=MARKER")
    }
    let response = try await APIClient(baseURL: server.url).response(Sending(path: "/?MARKER"))
    #expect(response.fields[.setCookie] == "sid=MARKER" && response.fields["Link"]?.contains("MARKER") == true)
    for value in [response, response.raw, response.raw.head, response.fields] as [Any] {
      let shown = SecretTests.everything(value)
      #expect(!shown.contains("MARKER"), "\(shown)")
      // The ASCII codes of M, A and R in sequence, as a dump prints bytes.
      let numbers = shown.split { !$0.isNumber }.joined(separator: " ")
      #expect(!numbers.contains("77 65 82 75"))
    }
  }

  private struct Login: APIRequest {
    let password: String
    var path: Path { "/login" }
  }

  @Test func `info of a call hides its request`() async throws {
    let shown = Recorded<String>()
    struct Shower: Accessory {
      let shown: Recorded<String>
      func willStart(_ call: CallInfo) { shown.append(SecretTests.everything(call)) }
    }
    let client = ScriptedClient({ $0.accessories = [Shower(shown: shown)] }).client
    let latch = Latch()
    let call = client.start(outcomeOf: Login(password: "MARKER"), on: .inPlace) { _ in latch.open() }
    await latch.waitStubbornly()
    shown.append(SecretTests.everything(call))
    #expect(shown.count == 2 && shown.all.allSatisfy { !$0.contains("MARKER") })
    #expect(shown.all[0].contains("Login"))
  }

  @Test func `request values show no secret`() {
    let headers: RequestHeaders = [
      "Authorization": "Bearer MARKER", "cookie": "sid=MARKER", "X-Plain": "seen", "A": nil,
    ]
    let values: [Any] = [headers, CallOptions(headers: headers), RequestPath("/p?MARKER"), Sending(headers: headers)]
    for value in values { #expect(!SecretTests.everything(value).contains("MARKER")) }
    #expect(headers.description == "Authorization: •••\ncookie: •••\nX-Plain: seen\nA:")
  }

  @Test func `proxy settings show no password`() {
    var configuration = CurlConfiguration()
    configuration.proxy = .url("http://u:MARKER@h:3128", user: "u", password: "MARKER")
    #expect(!SecretTests.everything(configuration).contains("MARKER"))
  }
}
