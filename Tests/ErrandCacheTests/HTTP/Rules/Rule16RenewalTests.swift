import Testing

@testable import ErrandCache
@testable import ErrandCore

/// Rule 16: the effect of a 304 on the stored response.
struct Rule16RenewalTests {
  static let changed = "Last-Modified: Sun, 06 Nov 1994 08:00:00 GMT"
  static let other = "Last-Modified: Sun, 06 Nov 1994 08:00:01 GMT"

  @Test(arguments: [
    (#"ETag: "x""#, #"ETag: "x""#, "renewed"), (#"ETag: "x""#, #"ETag: "y""#, "unrelated"),
    (#"ETag: W/"x""#, #"ETag: W/"x""#, "renewed"), (#"ETag: "x""#, #"ETag: W/"x""#, "renewed"),
    (#"ETag: W/"x""#, #"ETag: "x""#, "renewed"), (#"ETag: W/"x""#, #"ETag: W/"y""#, "unrelated"),
    (#"ETag: "x""#, "", "renewed"), (changed, changed, "renewed"), (changed, other, "unrelated"),
    (changed, "", "renewed"),
    ("", "", "renewed"), ("", #"ETag: "x""#, "unrelated"), ("", changed, "unrelated"),
    (#"ETag: "x" | \#(changed)"#, #"ETag: "x" | \#(other)"#, "renewed"), ("ETag: bare", "ETag: bare", "renewed"),
    (#"ETag: "x""#, #"ETag: "x" | ETag: "y""#, "unrelated"), ("ETag: \u{e1}", "ETag: a\u{301}", "unrelated"),
    (#"ETag: "x""#, #"ETag: "x" | Cache-Control: no-store"#, "last"), (#"ETag: "x""#, "Vary: *", "last"),
  ])
  func `304 must match stored response`(stored: String, response: String, word: String) throws {
    let renewal = try Scene.rules().renewal(of: Scene.stored(stored), by: Scene.response(304, response, came: 50))
    #expect(Scene.word(renewal) == word)
    #expect((renewal.head == nil) == (word == "unrelated"))
  }

  @Test func `weak tag stays weak`() throws {
    let stored = Scene.stored(#"ETag: W/"x""#)
    let renewal = try Scene.rules().renewal(of: stored, by: Scene.response(304, #"ETag: "x""#, came: 50))
    #expect(renewal.head?.answer.fields.values(of: .eTag) == [#"W/"x""#])
  }

  @Test(arguments: [200, 206, 412, 500]) func `other statuses do not renew`(status: Int) throws {
    #expect(try Scene.word(Scene.rules().renewal(of: Scene.stored(""), by: Scene.response(status))) == "unrelated")
  }

  @Test(arguments: [
    (200, true), (204, true), (301, true), (302, true), (404, true), (410, true), (206, false), (304, false),
    (401, false), (403, false), (412, false), (429, false), (500, false), (503, false),
  ])
  func `status decides whether entry is outdated`(status: Int, isOutdated: Bool) throws {
    let head = ResponseHead(status: status)
    #expect(try Scene.rules().isOutdated(by: head) == isOutdated)
    #expect(try Scene.rules(.post, policy: .lifetime(.seconds(5))).isOutdated(by: head) == isOutdated)
    #expect(try !Scene.rules(.get, "Range: bytes=0-1").isOutdated(by: head) && !Scene.rules(.head).isOutdated(by: head))
  }

  @Test func `304 fields replace stored fields`() throws {
    let stored = Scene.stored(
      "ETag: \"x\" | X-A: 1 | Age: 500 | X-B: 1 | X-B: 2 | Content-Length: 2 | Content-Type: a/b | Content-Encoding: gzip"
        + " | Cache-Control: max-age=5", status: 203)
    let response = Scene.response(
      304,
      "ETag: \"x\" | X-B: 3 | X-C: 4 | Content-Length: 0 | Content-Type: c/d | Content-Encoding: br | Content-Range: x"
        + " | Connection: X-Hop | X-Hop: 1 | Keep-Alive: 5 | Set-Cookie: a | Cache-Control: max-age=60", sent: 48,
      came: 50)
    let head = try #require(Scene.rules().renewal(of: stored, by: response).head)
    #expect(
      head.answer.fields.all.map { "\($0.name): \($0.value)" } == [
        "X-A: 1", "Content-Length: 2", "Content-Type: a/b", "Content-Encoding: gzip", "ETag: \"x\"", "X-B: 3", "X-C: 4",
        "Cache-Control: max-age=60", "Date: \(Scene.date(50))",
      ])
    #expect(head.answer.status == 203 && head.variant == stored.variant && head.label == stored.label)
    #expect(head.requestTime == Scene.at(48).wall && head.responseTime == Scene.at(50).wall)
    #expect(head.received == Scene.at(50).monotonic)
    #expect(Scene.word(try Scene.rules().decide(head, at: Scene.at(107))) == "fresh")
    #expect(Scene.word(try Scene.rules().decide(head, at: Scene.at(108))) == "validate")
  }

  @Test(arguments: [("Content-Digest", "old"), ("Content-MD5", "old"), ("Repr-Digest", "new")])
  func `304 keeps digests of the stored body`(field: String, value: String) throws {
    let response = Scene.response(304, "ETag: \"x\" | \(field): new")
    let head = try #require(
      Scene.rules().renewal(of: Scene.stored("ETag: \"x\" | \(field): old"), by: response).head)
    #expect(head.answer.fields.values(of: HTTPFieldName(field)) == [value])
  }

  @Test func `304 restarts declared lifetime`() throws {
    let rules = try Scene.rules(policy: .lifetime(.seconds(60)))
    let stored = Scene.stored("", policy: .lifetime(.seconds(30)))
    let head = try #require(
      rules.renewal(of: stored, by: Scene.response(304, "Date: \(Scene.date(0))", came: 50)).head)
    #expect(Scene.word(rules.decide(head, at: Scene.at(109))) == "fresh")
    #expect(Scene.word(rules.decide(head, at: Scene.at(110))) == "validate")
    #expect(head.policy == rules.policy && !head.isMemoryOnly)
    let secret = rules.renewal(of: stored, by: Scene.response(304, "Cache-Control: no-store", came: 50))
    #expect(Scene.word(secret) == "renewed" && secret.head?.isMemoryOnly == true)
  }

  @Test func `request's no-store keeps stored head`() throws {
    let rules = try Scene.rules(.get, "Cache-Control: no-store")
    #expect(Scene.word(rules.renewal(of: Scene.stored(""), by: Scene.response(304))) == "unstored")
  }

  @Test func `304 updates Vary`() throws {
    let rules = try Scene.rules(.get, "X: 1")
    let renewal = rules.renewal(of: Scene.stored(""), by: Scene.response(304, "Vary: X"))
    #expect(renewal.head?.vary == [VaryingField(name: "x", value: "1")])
  }
}
