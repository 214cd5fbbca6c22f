import Errand
import ErrandTesting
import Foundation
import Testing

/// Requests that differ in a single property never receive each other's responses, whatever the property is.
struct SharingPropertyTests {
  /// A call with all its properties.
  private struct Ask: APIRequest {
    var host = "a.example.com"
    var scheme = "https"
    var port = 443
    var segments = ["x", "y"]
    var query: [(String, String)] = [("q", "1")]
    var method = HTTPMethod.post
    var content: Data? = Data("body".utf8)
    var type = "text/plain"
    var language = "de"
    var authorization: String?
    var cookie: String?
    var credential = RequestCredential.inherited
    var account: String? = "ada"
    var version = 1
    var appVersion = "1"
    var policy = 0

    var path: Path { "" }
    var text: String {
      let pairs = query.map { "\($0)=\($1)" }.joined(separator: "&")
      return "\(scheme)://\(host):\(port)/\(segments.joined(separator: "/"))" + (pairs.isEmpty ? "" : "?\(pairs)")
    }
    typealias Response = String
    func finishedRequest() throws -> HTTPRequest? {
      var fields: HTTPFields = ["Accept-Language": "\(language)"]
      if content != nil { fields.append(HTTPField(.contentType, type)) }
      if let authorization { fields.append(HTTPField(.authorization, authorization)) }
      if let cookie { fields.append(HTTPField(.cookie, cookie)) }
      return try HTTPRequest(method: method, url: text, fields: fields, body: content.map(HTTPBody.init))
    }
    var cache: CachePolicy {
      let kept: CachePolicy =
        policy == 0 ? .lifetime(.seconds(60), version: version) : .httpElse(.seconds(60), version: version)
      return kept.keyed(by: CacheKeyRule(headers: ["Accept-Language"]))
    }
  }

  /// The changes of a single property.
  private static let changes: [(name: String, change: @Sendable (inout Ask, inout any RandomNumberGenerator) -> Void)] =
    [
      ("host", { ask, _ in ask.host = "b.example.com" }),
      ("scheme", { ask, _ in ask.scheme = "http" }),
      ("port", { ask, random in ask.port = .random(in: 1000...60_000, using: &random) }),
      ("path split", { ask, _ in ask.segments = [ask.segments.joined()] }),
      ("path case", { ask, _ in ask.segments[0] = ask.segments[0].uppercased() + "Z" }),
      ("slash", { ask, _ in ask.segments.append("") }),
      ("query value", { ask, random in ask.query[0].1 += "\(Int.random(in: 0...9, using: &random))" }),
      ("query name", { ask, _ in ask.query[0].0 += "n" }),
      ("query order", { ask, _ in ask.query = [("z", "2")] + ask.query }),
      ("query more", { ask, _ in ask.query.append(("q", "1")) }),
      ("query none", { ask, _ in ask.query = [] }),
      ("method", { ask, _ in ask.method = ask.method == .post ? .put : .post }),
      ("body", { ask, _ in ask.content = (ask.content ?? Data()) + Data([0]) }),
      ("type", { ask, _ in ask.type += "; charset=utf-8" }),
      ("language", { ask, _ in ask.language += ", en" }),
      ("authorization", { ask, _ in ask.authorization = (ask.authorization ?? "") + "Bearer x" }),
      ("cookie", { ask, _ in ask.cookie = (ask.cookie ?? "") + "a=b" }),
      ("own credential", { ask, _ in ask.credential = .bearer("own") }),
      ("no credential", { ask, _ in ask.credential = .none }),
      ("account", { ask, _ in ask.account = (ask.account ?? "") + "a" }),
      ("nobody", { ask, _ in ask.account = ask.account == nil ? "ada" : nil }),
      ("version", { ask, _ in ask.version += 1 }),
      ("app version", { ask, _ in ask.appVersion += "1" }),
      ("model", { ask, _ in ask.policy = 1 - ask.policy }),
    ]

  private static func random(_ random: inout any RandomNumberGenerator) -> Ask {
    var ask = Ask()
    ask.segments = (0...Int.random(in: 1...3, using: &random)).map { _ in
      ["x", "xy", "y", "%2F"].randomElement(using: &random) ?? "x"
    }
    ask.query = [("q", "\(Int.random(in: 0...3, using: &random))")]
    ask.method = [.post, .put, .delete].randomElement(using: &random) ?? .post
    ask.content = Data("b\(Int.random(in: 0...3, using: &random))".utf8)
    ask.authorization = Bool.random(using: &random) ? "Bearer one" : nil
    ask.cookie = Bool.random(using: &random) ? "c=d" : nil
    ask.account = ["ada", nil].randomElement(using: &random) ?? nil
    ask.policy = 0
    return ask
  }

  /// A server that numbers its responses.
  private static func fixture() -> CacheFixture {
    CacheFixture { _, number in .text("answer \(number)") }
  }

  private static func send(_ ask: Ask, _ fixture: CacheFixture) async throws -> String {
    fixture.client.configure {
      $0.cache.appVersion = ask.appVersion
      $0.credentials = ask.account.map { FixedCredential(.bearer("of \($0)"), account: $0) }
    }
    return try await fixture.client.send(ask)
  }

  @Test(arguments: Self.changes.map(\.name))
  func `any difference prevents sharing`(_ name: String) async throws {
    let change = try #require(Self.changes.first { $0.name == name }?.change)
    for seed in 1...40 {
      var random: any RandomNumberGenerator = SeededNumbers(seed: UInt64(seed))
      var first = Self.random(&random)
      // Under the server's rules, an unsafe method would invalidate the first response.
      if name == "model" { (first.method, first.content) = (.get, nil) }
      var second = first
      change(&second, &random)
      guard name != "own credential" && name != "no credential" || first.authorization == nil else { continue }
      if name == "no credential", first.account == nil { continue }
      let fixture = Self.fixture()
      #expect(try await Self.send(first, fixture) == "answer 1")
      #expect(try await Self.send(second, fixture) == "answer 2", "\(first) and \(second)")
      #expect(try await Self.send(first, fixture) == (Self.replaces(name) ? "answer 3" : "answer 1"), "\(name) evicts")
      #expect(fixture.asked == (Self.replaces(name) ? 3 : 2))
    }
  }

  /// A new version replaces the entry of the old one.
  private static func replaces(_ name: String) -> Bool {
    ["version", "app version"].contains(name)
  }
}
