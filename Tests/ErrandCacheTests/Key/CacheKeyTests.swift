import ErrandTesting
import Foundation
import Testing

@testable import ErrandCache
@testable import ErrandCore

struct CacheKeyTests {
  /// All inputs of a key.
  struct Case {
    var method: HTTPMethod = .get
    var url = "https://api.example/v1/items?page=1&sort=up"
    var fields: HTTPFields = ["Accept-Language": "en", "X-Plan": "free"]
    var body: String?
    var model = CachePolicy.Model.lifetime
    var chosen: [HTTPFieldName] = ["Accept-Language", "X-Plan"]
    var leftOut: [String] = []
    var partition = CachePartition.account("ada")
    var salt: [UInt8] = [1, 2, 3]
    var version = CanonicalForm.version

    func key() throws -> CacheKey {
      let recipe = CacheKeyRecipe(
        model: model, fields: chosen, leftOut: leftOut, partition: partition, salt: salt, version: version)
      return recipe.key(
        for: try HTTPRequest(method: method, url: url, fields: fields, body: body.map { HTTPBody(Data($0.utf8)) }))
    }

    func changed(_ change: (inout Case) -> Void) -> Case {
      var copy = self
      change(&copy)
      return copy
    }
  }

  /// Changes of a single property that must lead to different responses.
  static let differences: [(String, @Sendable (inout Case) -> Void)] = [
    ("method", { $0.method = .post }), ("method's case", { $0.method = "get" }), ("HEAD", { $0.method = .head }),
    ("model", { $0.model = .httpElse }),
    ("scheme", { $0.url = "http://api.example:443/v1/items?page=1&sort=up" }),
    ("host", { $0.url = "https://api2.example/v1/items?page=1&sort=up" }),
    ("port", { $0.url = "https://api.example:8443/v1/items?page=1&sort=up" }),
    ("path", { $0.url = "https://api.example/v1/item?page=1&sort=up" }),
    ("path's end", { $0.url = "https://api.example/v1/items/?page=1&sort=up" }),
    ("path's case", { $0.url = "https://api.example/v1/Items?page=1&sort=up" }),
    ("query", { $0.url = "https://api.example/v1/items?page=2&sort=up" }),
    ("query's order", { $0.url = "https://api.example/v1/items?sort=up&page=1" }),
    ("query's end", { $0.url = "https://api.example/v1/items?page=1&sort=up&" }),
    ("no query", { $0.url = "https://api.example/v1/items" }),
    ("empty query", { $0.url = "https://api.example/v1/items?" }),
    ("mark in the path", { $0.url = "https://api.example/v1/items%3Fpage=1&sort=up" }),
    ("chosen field", { $0.fields["X-Plan"] = "paid" }), ("missing field", { $0.fields.remove("X-Plan") }),
    ("empty field", { $0.fields["X-Plan"] = "" }),
    ("fields swapped", { $0.fields = ["Accept-Language": "free", "X-Plan": "en"] }),
    ("field twice", { $0.fields.append(HTTPField("X-Plan", "free")) }),
    ("choice of fields", { $0.chosen = ["X-Plan"] }), ("body", { $0.body = "x" }), ("empty body", { $0.body = "" }),
    ("account", { $0.partition = .account("bob") }), ("account's case", { $0.partition = .account("Ada") }),
    ("nobody", { $0.partition = .nobody }),
    ("field's account", { $0.partition = .fields([HTTPField(.cookie, "ada")]) }),
    ("own credential", { $0.fields[.authorization] = "Bearer x" }), ("salt", { $0.salt = [1, 2] }),
    ("salt into the next", { $0.salt = [1, 2, 3, 0] }), ("format", { $0.version = CanonicalForm.version + 1 }),
  ]

  @Test func `any difference changes the key`() throws {
    for base in [Case(), Case(method: .post, body: "a=1"), Case(model: .http, partition: .nobody)] {
      var seen: [(String, CacheKey)] = [("base", try base.key())]
      for (name, change) in Self.differences {
        let other = base.changed(change)
        guard other.text != base.text else { continue }
        let key = try other.key()
        for (known, before) in seen {
          if name == "HEAD", base.model != .lifetime { continue }
          #expect(key != before, "\(name) and \(known)")
        }
        if !(name == "HEAD" && base.model != .lifetime) { seen.append((name, key)) }
      }
      #expect(seen.count > Self.differences.count - 6)
    }
  }

  /// Random pairs: the same words, split or distributed differently, must have different keys.
  @Test func `random requests have distinct keys`() throws {
    var random = SeededNumbers(seed: 0x5EED)
    var seen: [CacheKey: String] = [:]
    for _ in 0..<3_000 {
      let other = Case.random(&random)
      let key = try other.key()
      if let before = seen[key] { #expect(before == other.text) }
      seen[key] = other.text
    }
    #expect(seen.count > 2_000)
  }

  @Test func `adjacent lists are kept separate`() throws {
    let one = HTTPFields([HTTPField("A", "x"), HTTPField("B", "b"), HTTPField("B", "y")])
    let two = HTTPFields([HTTPField("A", "x"), HTTPField("A", "b"), HTTPField("B", "y")])
    #expect(try Case(fields: one, chosen: ["A", "B"]).key() != Case(fields: two, chosen: ["A", "B"]).key())
  }

  @Test func `equal requests share a key`() throws {
    let key = try Case().key()
    #expect(try Case(url: "HTTPS://API.Example:443/v1/items?page=1&sort=up").key() == key)
    #expect(try Case(chosen: ["x-plan", "ACCEPT-LANGUAGE", "X-Plan"]).key() == key)
    #expect(try Case().changed { $0.fields.append(HTTPField("X-Other", "1")) }.key() == key)
    #expect(try Case(url: "http://h").key() == Case(url: "http://h/#f").key())
  }

  @Test func `HEAD has the key of GET under HTTP`() throws {
    for model in [CachePolicy.Model.http, .httpElse] {
      #expect(try Case(method: .head, model: model).key() == Case(model: model).key())
      #expect(try Case(method: .options, model: model).key() != Case(model: model).key())
    }
  }

  @Test func `POST can store for GET`() throws {
    let recipe = CacheKeyRecipe(model: .http, fields: ["Accept"], partition: .nobody, salt: [])
    let post = try HTTPRequest(
      method: .post, url: "https://h/a", fields: ["Accept": "a", "Content-Type": "b/c"], body: HTTPBody(Data("x".utf8)))
    let get = try HTTPRequest(url: "https://h/a", fields: ["Accept": "a"])
    #expect(recipe.keyForGet(insteadOf: post) == recipe.key(for: get) && recipe.key(for: post) != recipe.key(for: get))
  }

  @Test func `account changes only account digests`() throws {
    let (ada, bob) = (try Case().key(), try Case(partition: .account("bob")).key())
    #expect(ada.anyAccount == bob.anyAccount && ada.account != bob.account && ada.target != bob.target)
    let elsewhere = try Case(url: "https://h/").key()
    #expect(ada.account == elsewhere.account && ada.anyAccount != elsewhere.anyAccount)
  }

  @Test func `target ignores secrets without account`() throws {
    let partitions: [CachePartition] = [
      .nobody, .fields([HTTPField(.cookie, "a=1")]), .fields([HTTPField(.authorization, "Bearer x")]),
    ]
    let keys = try partitions.map { try Case(partition: $0).key() }
    #expect(Set(keys.map(\.target)).count == 1 && Set(keys.map(\.entry)).count == 3)
    #expect(try Case().key().target != keys[0].target)
    let elsewhere = CachePartition.fields([HTTPField(.cookie, "a=1")], transport: "certificate")
    #expect(try Case(partition: elsewhere).key().target != keys[0].target)
    let common = CachePartition.of(account: nil, fields: [:], transport: "certificate")
    #expect(try Case(partition: elsewhere).key().target == Case(partition: common).key().target)
  }

  @Test func `memo separates unmarked credentials`() throws {
    let (memo, salt) = (KeyMemo(), Digest.random())
    let keys = try [HTTPFieldName.authorization, .cookie].flatMap { name in
      try ["ada", "eve"].map { value in
        var field = HTTPField(name, value)
        field.isSecret = false
        let request = try HTTPRequest(url: "https://h/", fields: HTTPFields([field]))
        return memo.key(for: request, .http, CacheKeyRule(), .account("shared"), transport: nil, salt: salt).key
      }
    }
    #expect(Set(keys).count == 4)
  }

  @Test func `target ignores method, model and body`() throws {
    let base = try Case().key().target
    #expect(try Case(method: .put, body: "x", model: .http).key().target == base)
    #expect(try Case(url: "https://api.example/v1/items?page=1").key().target != base)
    let recipe = CacheKeyRecipe(model: .http, partition: .account("ada"), salt: [1, 2, 3])
    #expect(try recipe.target(of: HTTPURL(Case().url)) == base)
  }

  @Test(arguments: [
    ("https://h/a?ts=1&x=2", "https://h/a?x=2&ts=9"), ("https://h/a?ts=1", "https://h/a"),
    ("https://h/a?%74s=1&x=2", "https://h/a?x=2"), ("https://h/a?x=2&ts", "https://h/a?x=2"),
    ("https://h/a?no+nce=1", "https://h/a?no%20nce=2"), ("https://h/a?ts[]=1&ts[0]=2&x=2", "https://h/a?x=2"),
  ])
  func `excluded query arguments are ignored`(one: String, two: String) throws {
    let (first, second) = (Case(url: one, leftOut: ["ts", "no nce"]), Case(url: two, leftOut: ["ts", "no nce"]))
    #expect(try first.key() == second.key())
    #expect(try first.key().target == second.key().target)
    #expect(try first.changed { $0.leftOut = [] }.key() != second.changed { $0.leftOut = [] }.key())
  }

  @Test(arguments: [
    ("https://h/a?tss=1", "https://h/a?tss=2"), ("https://h/a?x=ts", "https://h/a?x=t"),
    ("https://h/a?TS=1", "https://h/a?TS=2"), ("https://h/a?x[ts]=1", "https://h/a?x[ts]=2"),
    ("https://h/a?ts.b=1", "https://h/a?ts.b=2"), ("https://h/a?%zzts=1", "https://h/a?%zzts=2"),
  ])
  func `other query arguments count`(one: String, two: String) throws {
    #expect(try Case(url: one, leftOut: ["ts"]).key() != Case(url: two, leftOut: ["ts"]).key())
  }

  static let form = "application/x-www-form-urlencoded"
  static let json = "application/json; charset=utf-8"

  @Test(arguments: [
    (form, "ts=1&x=2", "x=2&ts=5", true), (form, "t%73=1&x=2", "x=2", true), (form, "x=1&ts=1", "x=2&ts=1", false),
    (form, "xa=1", "x=a1", false), (json, #"{"ts":1,"x":2}"#, #"{"x":2,"ts":[1,{"a":"}"}]}"#, true),
    (json, #" { "t\u0073" : "a\"b,}" , "x":2 } "#, #"{"x":2}"#, true), (json, #"{"ts":1}"#, "{}", true),
    (json, #"{"x":{"ts":1}}"#, #"{"x":{"ts":2}}"#, false), (json, #"{"x":1,"ts":1}"#, #"{"x":2,"ts":1}"#, false),
    (json, #"{"a":"b","ts":1}"#, #"{"ab":"","ts":1}"#, false), (json, #"[{"ts":1}]"#, #"[{"ts":2}]"#, false),
    (json, #"{"ts":1"#, #"{"ts":2"#, false), (json, #"{"ts":1}x"#, #"{"ts":2}x"#, false),
    ("text/plain", #"{"ts":1}"#, #"{"ts":2}"#, false), ("", "ts=1", "ts=2", false),
  ])
  func `excluded body arguments are ignored`(type: String, one: String, two: String, shares: Bool) throws {
    let base = Case(method: .post, fields: ["Content-Type": type], leftOut: ["ts"])
    let (first, second) = (base.changed { $0.body = one }, base.changed { $0.body = two })
    #expect(try (first.key() == second.key()) == shares)
    let whole = first.changed { $0.leftOut = [] }
    #expect(try whole.key() != second.changed { $0.leftOut = [] }.key())
  }

  @Test func `content type changes the key`() throws {
    let base = Case(method: .post, body: "a=1")
    #expect(
      try base.changed { $0.fields[.contentType] = Self.form }.key()
        != base.changed { $0.fields[.contentType] = "text/plain" }.key())
  }

  @Test func `partition follows account and secrets`() {
    let both: HTTPFields = ["Cookie": "a=1", "Authorization": "Bearer x"]
    #expect(CachePartition.of(account: "ada", fields: both) == .account("ada"))
    let own = [HTTPField(.authorization, "Bearer x"), HTTPField(.cookie, "a=1")]
    #expect(CachePartition.of(account: nil, fields: both) == .fields(own))
    #expect(CachePartition.of(account: nil, fields: [:]) == .nobody)
    #expect(CachePartition.of(account: nil, fields: ["X": "y"]) == .nobody)
    let parts: [CachePartition] = [
      .nobody, .account(""), .account("nobody"), .fields([]), .fields(own), .fields(own.reversed()),
      .fields([HTTPField(.cookie, "a=1")]),
    ]
    #expect(Set(parts.map { $0.digest(salt: [7]) }).count == parts.count)
    #expect(parts[1].digest(salt: [7]) != parts[1].digest(salt: [8]))
  }

  @Test func `any bytes can be parsed`() {
    var random = SeededNumbers(seed: 7)
    let alphabet = Array(#"{}[]":,\u00e9 ts=&%+x"#.utf8) + [0xFF, 0xC3, 0x00]
    for _ in 0..<5_000 {
      let bytes = (0..<Int.random(in: 0...24, using: &random)).map { _ in
        alphabet[Int.random(in: 0..<alphabet.count, using: &random)]
      }
      let leftOut = LeftOutArguments(["ts"])
      for type in [Self.form, Self.json] {
        let pieces = leftOut.pieces(of: Data(bytes), type: type)
        #expect((pieces ?? []).map(\.count).reduce(0, +) <= bytes.count)
      }
      _ = leftOut.query(String(decoding: bytes, as: UTF8.self))
    }
  }
}

extension CacheKeyTests.Case {
  /// The inputs of the key, in an unambiguous form.
  var text: String {
    let url = url.replacingOccurrences(of: ":443/", with: "/")
    return [
      method.rawValue, url, chosen.map { [$0.rawValue] + fields.values(of: $0) }.description, body ?? "<none>",
      "\(model)", "\(partition.digest(salt: []))", "\(salt)", "\(version)", "\(fields.values(of: .authorization))",
    ].debugDescription
  }

  /// A request made of a few short words, so that similar requests are frequent.
  static func random(_ random: inout SeededNumbers) -> Self {
    func pick<T>(_ list: [T]) -> T { list[Int.random(in: 0..<list.count, using: &random)] }
    let words = ["a", "b", "ab", "", "ba"]
    return Self(
      method: pick([.get, .post]), url: "https://\(pick(["a", "b"]))/\(pick(words))/\(pick(words))?\(pick(words))",
      fields: ["A": pick(words), "B": pick(words)], body: pick(words + [nil]), chosen: ["A", "B"],
      partition: pick([.nobody, .account(pick(words)), .fields([HTTPField(.cookie, pick(words))])]))
  }
}
