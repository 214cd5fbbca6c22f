import Testing

@testable import ErrandCache
@testable import ErrandCore

/// Rules 23 and 24: byte ranges, and redirects.
struct Rule23PartTests {
  private static let tagged = #"Cache-Control: max-age=60, stale-while-revalidate=60 | ETag: "x""#

  @Test(
    arguments: [
      ("Range: bytes=0-1", 1, "fresh"), ("Range: bytes=-5", 1, "fresh"), ("Range: bytes=5-", 1, "fresh"),
      (#"Range: bytes=0-1 | If-Range: "x""#, 1, "fresh"),
      (#"Range: bytes=0-1 | If-None-Match: "x""#, 1, "304"),
      // Requests that only the server can answer or is allowed to answer.
      ("Range: bytes=0-1, 4-5", 1, "bypass range"), ("Range: lines=0-1", 1, "bypass range"),
      ("Range: bytes=5-1", 1, "bypass range"), ("Range: bytes=0-1 | Range: bytes=2-3", 1, "bypass range"),
      (#"Range: bytes=0-1 | If-Range: "y""#, 1, "bypass range"),
      (#"Range: bytes=0-1 | If-Range: W/"x""#, 1, "bypass range"),
      ("Range: bytes=0-1 | If-Range: \(Scene.date)", 1, "bypass range"),
      ("Range: bytes=0-1 | If-Match: *", 1, "bypass range"),
      // A refresh or a validation would request only the range.
      ("Range: bytes=0-1", 70, "bypass range"), ("Range: bytes=0-1", 200, "bypass range"),
      ("Range: bytes=0-1 | Cache-Control: no-cache", 1, "bypass range"),
      ("Range: bytes=0-1 | Cache-Control: only-if-cached", 1, "fresh"),
    ])
  func `rule 23: ranges of fresh responses are cut`(request: String, seconds: Double, word: String) throws {
    let head = Scene.stored(Self.tagged)
    let rules = try Scene.rules(.get, request)
    #expect(Scene.word(rules.decide(among: [head], at: Scene.at(seconds)).decision) == word)
    #expect(Scene.word(rules.storing(Scene.response(200, "Cache-Control: max-age=60"))) == "partial")
  }

  @Test(arguments: [
    ("Range: bytes=0-1 | Accept-Encoding: identity", "", "fresh"),
    ("Range: bytes=0-1 | Accept-Encoding: identity", "Content-Encoding: gzip", "bypass range"),
    ("Range: bytes=0-1 | Accept-Encoding: deflate", "", "bypass range"),
    ("Accept-Encoding: identity", "", "fetch missing"),
    ("Range: bytes=0-1 | Accept-Encoding: identity | Accept-Language: de", "", "bypass range"),
  ]) func `rule 23: uncoded body matches any accepted coding`(request: String, stored: String, word: String) throws {
    let fields = "Cache-Control: max-age=60 | Vary: Accept-Encoding, Accept-Language | \(stored)"
    let head = Scene.stored(fields, request: "Accept-Encoding: gzip, br")
    #expect(try Scene.word(Scene.rules(.get, request).decide(among: [head], at: Scene.at(1)).decision) == word)
  }

  @Test func `rule 23: equal weak tags allow no range`() throws {
    let head = Scene.stored(#"Cache-Control: max-age=60 | ETag: W/"x""#)
    let rules = try Scene.rules(.get, #"Range: bytes=0-1 | If-Range: W/"x""#)
    #expect(rules.decide(among: [head], at: Scene.at(1)).decision == .bypass(.range))
  }

  @Test func `rule 23: only complete uncoded bodies are cut`() throws {
    let rules = try Scene.rules(.get, "Range: bytes=0-1")
    for stored in ["Content-Encoding: gzip", "Content-Encoding: identity"] {
      let head = Scene.stored("Cache-Control: max-age=60 | \(stored)")
      #expect(rules.decide(among: [head], at: Scene.at(1)).decision == .bypass(.range))
    }
    let missing = Scene.stored("Cache-Control: max-age=60", status: 404)
    #expect(rules.decide(among: [missing], at: Scene.at(1)).decision == .bypass(.range))
    #expect(rules.decide(among: [], at: Scene.at(1)).decision == .bypass(.range))
    let head = Scene.stored("Cache-Control: max-age=60")
    #expect(
      try Scene.rules(.head, "Range: bytes=0-1").decide(among: [head], at: Scene.at(1)).decision == .bypass(.range))
  }

  @Test(
    arguments: [
      ("bytes=0-0", 0..<1), ("bytes=2-4", 2..<5), ("bytes=4-", 4..<10), ("bytes=4-99", 4..<10), ("bytes=-3", 7..<10),
      ("bytes=-99", 0..<10), ("BYTES= 1-2 ", 1..<3), ("bytes=,1-2,", 1..<3), ("bytes=9-9", 9..<10),
      ("bytes=10-", nil), ("bytes=-0", nil), ("bytes=99999999999999999999-", nil),
      ("bytes=0-99999999999999999999", 0..<10),
    ] as [(String, Range<Int>?)])
  func `rule 23: range selects these bytes`(text: String, slice: Range<Int>?) throws {
    let range = try #require(StoredRange(["Range": text]))
    #expect(range.slice(of: 10) == slice)
    #expect(range.slice(of: 0) == nil)
  }

  @Test func `rule 23: part has no digest of the whole`() {
    let stored = ResponseHead(
      status: 200, fields: Scene.fields("Content-Digest: a | Content-MD5: b | Repr-Digest: c | Content-Length: 10"))
    let head = StoredRange.head(stored, 2..<5, of: 10)
    #expect(
      head.fields.all.map { "\($0.name): \($0.value)" } == [
        "Repr-Digest: c", "Content-Length: 3", "Content-Range: bytes 2-4/10",
      ])
  }

  @Test(
    arguments: [
      ("", CacheReadMode.networkElseCached, StaleAllowance.anyAge), ("", .asDeclared, .upTo(milliseconds: 60_000)),
      (" | If-None-Match: \"y\"", .networkElseCached, .anyAge), (" | If-Range: \"x\"", .networkElseCached, .anyAge),
      (" | If-Range: \"y\"", .networkElseCached, .none), (" | Cache-Control: no-cache", .asDeclared, .none),
    ])
  func `rule 23: range may replace a failure`(request: String, mode: CacheReadMode, allowance: StaleAllowance) throws {
    let rules = try Scene.rules(.get, "Range: bytes=0-1\(request)", mode: mode)
    #expect(rules.allowance(for: Scene.stored("ETag: \"x\" | Cache-Control: stale-if-error=60")) == allowance)
    let coded = Scene.stored("ETag: \"x\" | Cache-Control: stale-if-error=60 | Content-Encoding: gzip")
    #expect(rules.allowance(for: coded) == .none)
  }

  @Test(arguments: ["", "bytes", "bytes=", "bytes=-", "bytes=a-", "bytes=1-b", "bytes=1", "bytes=1-2-3", "bytes=+1-2"])
  func `rule 23: invalid range goes to the server`(text: String) {
    #expect(StoredRange(["Range": text]) == nil)
  }

  @Test(arguments: ["", "Range: bytes=0-1"]) func `rule 23: partial responses are not stored`(request: String) throws {
    for policy in [CachePolicy.http, .lifetime(.seconds(60)), .httpElse(.seconds(60))] {
      let response = Scene.response(206, "Cache-Control: max-age=60 | Content-Range: bytes 0-1/9")
      #expect(try Scene.word(Scene.rules(.get, request, policy: policy).storing(response)) == "partial")
    }
  }

  @Test(arguments: [
    (301, "Cache-Control: max-age=60", "store", "fresh"), (302, "Cache-Control: max-age=60", "store", "fresh"),
    (307, "Cache-Control: max-age=5", "store", "validate"), (302, "", "status", ""), (308, "", "store", "validate"),
    (303, "Cache-Control: no-store, max-age=60", "no-store", ""),
  ])
  func `rule 24: each redirect has its own freshness`(status: Int, fields: String, word: String, later: String) throws {
    let decision = try Scene.rules().storing(Scene.response(status, "Location: /b | \(fields)"))
    #expect(Scene.word(decision) == word)
    guard case .store(let head) = decision else { return }
    #expect(head.answer.status == status && head.answer.fields[.location] == "/b")
    #expect(Scene.word(try Scene.rules().decide(head, at: Scene.at(10))) == later)
  }

  @Test func `rule 24: each redirect has its own key`() throws {
    let recipe = CacheKeyRecipe(model: .http, partition: .nobody, salt: [])
    #expect(
      try recipe.key(for: HTTPRequest(url: "https://h/a")) != recipe.key(for: HTTPRequest(url: "https://h/b")))
  }
}
