import Errand
import ErrandRecord
import Foundation
import Testing

struct ArchiveMaskTests {
  private static let marker = "canary-7f3c-marker"

  /// An entry of a call as an archive contains it.
  private func entry(
    _ url: String = "https://h.example/a", _ fields: [String: String] = [:], body: String? = nil,
    received: [String: String] = [:], errand: String? = nil
  ) -> String {
    func list(_ fields: [String: String]) -> String {
      fields.map { "{\"name\": \"\($0)\", \"value\": \"\($1)\"}" }.joined(separator: ", ")
    }
    let post = body.map { ", \"postData\": {\"mimeType\": \"text/plain\", \"text\": \"\($0)\"}" } ?? ""
    return """
      {"startedDateTime": "2026-01-31T12:00:00.250Z", "time": 30, "cache": {}, "timings": {},
        "request": {"method": "GET", "url": "\(url)", "httpVersion": "h2", "headers": [\(list(fields))]\(post)},
        "response": {"status": 200, "statusText": "", "httpVersion": "h2", "headers": [\(list(received))],
          "content": {}, "redirectURL": ""}\(errand.map { ", \"_errand\": {\($0)}" } ?? "")}
      """
  }

  private func archive(_ entries: String...) throws -> HTTPArchive {
    let text = """
      {"log": {"version": "1.2", "creator": {"name": "a", "version": "1"}, "entries": [\(entries.joined(separator: ","))]}}
      """
    return try HTTPArchive(parsing: Data(text.utf8))
  }

  private func text(_ archive: HTTPArchive) -> String { String(decoding: archive.serialized(), as: UTF8.self) }

  @Test(arguments: ["X-Api-Key", "X-Auth-Token", "x-amz-security-token", "X-Session", "Authorization"])
  func `field with the name of a secret is masked`(name: String) throws {
    let archive = try archive(
      entry("https://h.example/a?echo=\(Self.marker)", [name: Self.marker], received: [name: Self.marker]))
    #expect(archive.entries[0].request.headers.first?.isSecret == true)
    #expect(text(archive).contains(Self.marker) && !text(archive.masked).contains(Self.marker))
    #expect(archive.masked.entries[0].request.headers.map(\.value) == ["•••"])
  }

  @Test func `public fields are shown`() throws {
    let fields = [":authority": "h.example", "Access-Control-Allow-Credentials": "true", "X-Flag": "true"]
    let masked = try archive(entry("https://h.example/a", fields)).masked
    #expect(masked.entries[0].request.url == "https://h.example/a")
    #expect(Set(masked.entries[0].request.headers.map(\.value)) == ["h.example", "true"])
  }

  @Test(arguments: ["?sig=", "?code=", "?c%6Fde=", "?a=1&X-Amz-Signature=", "#access%5Ftoken=", "?x=/y?sid="])
  func `query item with the name of a secret is masked`(item: String) throws {
    let url = "https://h.example/a" + item + Self.marker
    let archive = try archive(
      entry(url, [":path": "/a" + item + Self.marker], received: ["X-Echo": "is \(Self.marker)"]))
    #expect(archive.masked.entries[0].request.url == "https://h.example/a" + item + "•••")
    #expect(!text(archive.masked).contains(Self.marker))
    #expect(archive.masked.masked == archive.masked)
  }

  @Test(arguments: [
    ("?session_token=abc?MARKER", "?session_token=•••"), ("?session_token=abc#MARKER", "?session_token=•••"),
    ("?a=1?b=2#c=3", "?a=1?b=2#c=3"), ("?a=1#sig=MARKER&b=2", "?a=1#sig=•••&b=2"),
    ("?x=/y?sid=a?MARKER", "?x=/y?sid=•••"),
    ("?a&sid=\u{301}MARKER?b=1&c", "?a&sid=•••&c"),
  ])
  func `secret value extends to the end of its item`(query: String, shown: String) throws {
    let url = "https://h.example/cb" + query.replacing("MARKER", with: Self.marker)
    let archive = try archive(entry(url, received: ["X-Echo": Self.marker, "X-Link": "see <\(url)>, please"]))
    let masked = archive.masked
    #expect(masked.entries[0].request.url == "https://h.example/cb" + shown)
    #expect(masked.entries[0].response.headers.contains { $0.value == "see <https://h.example/cb\(shown)>, please" })
    #expect(masked.masked == masked)
  }

  @Test(arguments: ["code", "code_verifier", "client_assertion", "pass", "X-Api-Key", "sig", "token"])
  func `member with the name of a secret is masked`(name: String) throws {
    let body = #"{\"\#(name)\":\"\#(Self.marker)\",\"result\":{\"code\":0},\"city\":\"Paris\"}"#
    let archive = try archive(
      entry("https://h.example/a", ["Content-Type": "application/json"], body: body, received: ["X-E": Self.marker]))
    #expect(!text(archive.masked).contains(Self.marker))
    let shown = archive.masked.entries[0].request.body
    #expect(shown?.contains(#""code":0"#) == true && shown?.contains("Paris") == true)
  }

  private static let json = "application/json"
  private static let form = "application/x-www-form-urlencoded"
  private static let echo = "{\"message\":\"\(marker) is too weak\"}"

  /// An archive of a call of Errand, whose server repeats a secret of the request body.
  private func echoing(_ type: String, coding: String = "", body: String?, size: Int?) throws -> HTTPArchive {
    let end = #""call": 1, "outcome": {"failure": {"stage": "a", "code": "b", "message": "not \#(Self.marker)"}}, "#
    var archive = try archive(entry(errand: end + #""decisions": []"#))
    archive.entries[0].request.headers = [HTTPField(.contentType, type)]
    if !coding.isEmpty { archive.entries[0].request.headers.append(HTTPField(.contentEncoding, coding)) }
    archive.entries[0].request.body = body
    archive.entries[0].request.bodySize = size
    archive.entries[0].response.headers = [
      HTTPField(.contentType, Self.json), HTTPField("X-Echo", "is \(Self.marker)"),
    ]
    archive.entries[0].response.reason = "not \(Self.marker)"
    archive.entries[0].response.body = Self.echo
    return archive
  }

  @Test(
    arguments: [
      (json, "", "{\"password\":\"\(marker)\"", nil), (json, "", nil, 30), (json, "gzip", nil, nil),
      (json, "gzip", "\u{1F}\u{FFFD}garbage", nil), (form, "", "a=1", 40), (form, "gzip", "garbage", nil),
    ] as [(String, String, String?, Int?)])
  func `responses are hidden if a body cannot be searched`(
    type: String, coding: String, body: String?, size: Int?
  ) throws {
    let masked = try echoing(type, coding: coding, body: body, size: size).masked
    #expect(!text(masked).contains(Self.marker), "\(text(masked))")
    #expect(masked.entries[0].response.body == "••• \(Self.echo.utf8.count) bytes")
    #expect(masked.entries[0].response.headers.map(\.value) == [Self.json, "•••"])
    #expect(masked.entries[0].response.reason == "•••" && masked.calls.first?.failureMessage == "•••")
    #expect(masked.masked == masked)
  }

  @Test func `long body is searched`() throws {
    let long = String(repeating: "x", count: 20_000)
    let body = "{\"password\":\"\(Self.marker)\",\"note\":\"\(long)\"}"
    let masked = try echoing(Self.json, body: body, size: body.utf8.count).masked
    #expect(!text(masked).contains(Self.marker))
    #expect(masked.entries[0].response.body == #"{"message":"••• is too weak"}"#)
  }

  @Test(
    arguments: [
      (json, "••• 5000 bytes", 5_000), (form, "a=•••", 40), (json, nil, nil), ("text/plain", nil, 40),
    ] as [(String, String?, Int?)])
  func `body that was masked before hides no response`(type: String, body: String?, size: Int?) throws {
    let masked = try echoing(type, body: body, size: size).masked
    #expect(masked.entries[0].response.body == Self.echo && masked.entries[0].response.reason == "not \(Self.marker)")
  }

  @Test func `decoded form of a browser hides no response`() throws {
    var archive = try archive(entry())
    archive.entries[0].request.headers = [HTTPField(.contentType, Self.form)]
    archive.entries[0].request.body = "a=b c"
    archive.entries[0].request.bodySize = 7
    archive.entries[0].response.reason = "shown"
    #expect(archive.masked.entries[0].response.reason == "shown")
  }

  @Test func `secret of the first exchange is masked in decisions`() throws {
    let end = """
      "call": 1, "attempt": 2, "outcome": {"failure": {"stage": "transport", "code": "a", "message": "not \(Self.marker)"}},
      "decisions": ["retried with \(Self.marker)", "redirected to https://u:pw-pw-pw@i.example/?sig=other-7f3c&page=2, as GET"]
      """
    let archive = try archive(
      entry(["Cookie": "sid=\(Self.marker)"], errand: "\"call\": 1, \"attempt\": 1"), entry(errand: end))
    for call in [archive.masked.calls.first, archive.calls.first?.masked] {
      #expect(
        call?.decisions.map(\.text) == [
          "retried with •••", "redirected to https://•••@i.example/?sig=•••&page=2, as GET",
        ])
      #expect(call?.failureMessage == "not •••")
    }
  }

  private func entry(_ fields: [String: String], errand: String) -> String {
    entry("https://h.example/a", fields, errand: errand)
  }

  @Test(arguments: [
    (
      "https://u:pw@a.example and http://u@pw@b.example/c@d, e@f",
      "https://•••@a.example and http://•••@b.example/c@d, e@f"
    ),
    ("a:b@c", "a:b@c"), ("x://", "x://"), ("://@", "://•••@"),
    ("u@h: https://u:pw@\u{301}h", "u@h: https://•••@\u{301}h"),
  ])
  func `users of all URLs are masked`(text: String, masked: String) throws {
    var archive = try archive(entry())
    archive.entries[0].response.failure = text
    #expect(archive.masked.entries[0].response.failure == masked)
  }

  @Test func `call without an end has none after masking`() throws {
    let masked = try archive(entry(errand: "\"call\": 1, \"attempt\": 1")).masked
    #expect(masked.entries[0].details?.end == nil && masked.calls.first?.failureMessage == nil)
  }

  @Test func `number of several runs is ambiguous`() throws {
    let archive = try archive(
      entry(errand: "\"call\": 1, \"run\": \"a\""), entry(errand: "\"call\": 1, \"run\": \"b\""),
      entry(errand: "\"call\": 2, \"run\": \"b\""))
    #expect(archive.call("1") == nil && archive.calls(withID: "1").map(\.id) == ["a:1", "b:1"])
    #expect(archive.call("a:1")?.run == "a" && archive.call("2")?.id == "b:2" && archive.call("3") == nil)
  }
}
