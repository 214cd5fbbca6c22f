import Testing

@testable import ErrandCache
@testable import ErrandCore

/// Rule 11: `Vary`.
struct Rule11VaryTests {
  @Test(arguments: [
    ("Vary: Accept", "Accept: a", "Accept: a", true), ("Vary: accept", "ACCEPT: a", "Accept: a", true),
    ("Vary: Accept", "Accept: a", "Accept: b", false), ("Vary: Accept", "Accept: a", "", false),
    ("Vary: Accept", "", "Accept: a", false), ("Vary: Accept", "", "", true), ("Vary: Accept", "Accept:", "", false),
    ("Vary: X, Accept", "X: 1 | Accept: a", "X: 1 | Accept: b", false),
    ("Vary: X, Accept", "X: 1 | Accept: a", "X: 2 | Accept: a", false), ("Vary: X | Vary: Y", "Y: 1", "Y: 2", false),
    ("Vary: X", "X: 1 | Y: 1", "X: 1 | Y: 2", true), ("Vary: Accept", "Accept: a, b", "Accept: a | Accept: b", true),
    ("Vary: Accept", "Accept: a,b;q=1", "Accept: a ,  b ; q=1", true),
    ("Vary: Accept", "Accept: a, b", "Accept: b, a", false),
    ("Vary: Accept-Language", "Accept-Language: de-DE, en", "Accept-Language: DE-de, EN", true),
    ("Vary: Accept-Encoding", "Accept-Encoding: GZip;Q=0.5", "Accept-Encoding: gzip;q=0.5", true),
    ("Vary: Accept-Charset", "Accept-Charset: UTF-8", "Accept-Charset: utf-8", true),
    ("Vary: Accept", "Accept: Text/HTML;Charset=a", "Accept: text/html;charset=a", true),
    ("Vary: Accept", "Accept: a/b;p=X", "Accept: a/b;p=x", false), ("Vary: X", "X: a", "X: A", false),
    ("Vary: X", "X: a, b", "X: a | X: b", true), ("Vary: X", "X: a", "X: a | X: b", false),
    ("Vary: X", "X: a,b", "X: a, b", false),
    ("Vary: Accept-Encoding", "Accept-Encoding: gzip", "Accept-Encoding: br", false),
    ("Vary: Authorization", "Authorization: a", "Authorization: a", true),
    ("Vary: Authorization", "Authorization: a", "Authorization: b", false), ("Vary: Authorization", "", "", true),
    ("Vary: Cookie", "Cookie: a", "Cookie: b", false), ("Vary: Cookie", "", "", true), ("Vary: Host", "", "", true),
  ])
  func `every Vary field must match`(fields: String, before: String, now: String, matches: Bool) throws {
    let head = Scene.stored("Cache-Control: max-age=60 | \(fields)", request: before)
    let (index, decision) = try Scene.rules(.get, now).decide(among: [head], at: Scene.at(1))
    #expect(index == (matches ? 0 : nil))
    #expect(Scene.word(decision) == (matches ? "fresh" : "fetch missing"))
  }

  @Test(arguments: [
    "Vary: *", "Vary: Accept, *", "Vary: Accept | Vary: *", "Vary: X-Signature", "Vary: range",
    "Vary: Proxy-Authorization", "Vary: If-None-Match", "Vary: Content-Length",
  ])
  func `incomparable Vary fields never match`(fields: String) throws {
    let response = Scene.response(200, "Cache-Control: max-age=60 | \(fields)", changedFields: ["x-signature"])
    #expect(try Scene.word(Scene.rules().storing(response)) == "varies")
    #expect(try Scene.word(Scene.rules(policy: .httpElse(.seconds(5))).storing(response)) == "varies")
    let declared = try Scene.rules(.get, "Accept: a", policy: .lifetime(.seconds(5)))
    guard case .store(let head) = declared.storing(response) else {
      Issue.record("not stored")
      return
    }
    #expect(head.vary.map(\.name).allSatisfy { $0 == "accept" })
    #expect(declared.choice(among: [head]) == 0)
  }

  @Test func `declared lifetime respects Vary`() throws {
    let policy = CachePolicy.lifetime(.seconds(60))
    let head = Scene.stored("Vary: Accept-Language", request: "Accept-Language: en", policy: policy)
    #expect(try Scene.rules(.get, "Accept-Language: fr", policy: policy).choice(among: [head]) == nil)
    #expect(try Scene.rules(.get, "Accept-Language: en", policy: policy).choice(among: [head]) == 0)
  }

  @Test func `newest match is selected`() throws {
    let heads = [
      Scene.stored("Vary: X", request: "X: 2", came: 30), Scene.stored("Vary: X", request: "X: 1", came: 20),
      Scene.stored("", came: 10),
    ]
    #expect(try Scene.rules(.get, "X: 1").choice(among: heads) == 1)
    #expect(try Scene.rules(.get, "X: 2").choice(among: heads) == 0)
    #expect(try Scene.rules(.get, "X: 3").choice(among: heads) == 2)
  }

  @Test func `secrets are stored as digests`() throws {
    var request = try HTTPRequest(
      url: "https://h/a", fields: ["Authorization": "MARKER", "Cookie": "MARKER", "X": "y"])
    request.fields.append(HTTPField("X-Api-Key", "MARKER", isSecret: true))
    let rules = CacheRules(request, policy: .http, salt: [1])
    let response = Scene.response(200, "Cache-Control: max-age=60 | Vary: Authorization, Cookie, X-Api-Key, X")
    guard case .store(let head) = rules.storing(response) else {
      Issue.record("not stored")
      return
    }
    #expect(head.vary.map(\.name) == ["authorization", "cookie", "x", "x-api-key"])
    #expect(head.vary.contains(VaryingField(name: "x", value: "y")))
    #expect(!"\(head)".contains("MARKER") && Set(head.vary.map(\.value)).count == 4)
    #expect(rules.choice(among: [head]) == 0)
    #expect(CacheRules(request, policy: .http, salt: [2]).choice(among: [head]) == nil)
  }

  @Test(
    arguments: [
      ([("", 2)], "", 1, "other-version"), ([("2", 1)], "", 1, "other-app-version"), ([("", 1)], "X", 1, "missing"),
      ([("2", 2)], "", 1, "other-version"), ([("", 2), ("2", 1)], "", 1, "other-app-version"), ([], "", 1, "missing"),
    ] as [([(String, Int)], String, Int, String)])
  func `other versions are never used`(heads: [(String, Int)], vary: String, version: Int, word: String) throws {
    for policy in [CachePolicy.http(version: version), .lifetime(.seconds(60), version: version)] {
      let stored = heads.map { appVersion, version in
        let policy =
          policy.model == .http ? CachePolicy.http(version: version) : .lifetime(.seconds(60), version: version)
        return Scene.stored(
          "Cache-Control: max-age=60 | Vary: \(vary)", request: "X: 1", policy: policy, appVersion: appVersion)
      }
      let rules = try Scene.rules(policy: policy)
      #expect(Scene.word(rules.decide(among: stored, at: Scene.at(1)).decision) == "fetch \(word)")
    }
  }

  @Test func `cache models stay separate`() throws {
    let head = Scene.stored("Cache-Control: max-age=60")
    #expect(try Scene.rules(policy: .lifetime(.seconds(60))).choice(among: [head]) == nil)
  }
}
