import Errand
import ErrandCache
import ErrandHTTP
import ErrandJSON
import ErrandTesting
import Foundation
import Testing

/// The value decoded from an entry is kept with it, for the same rules only.
struct DecodedValueTests {
  /// Counts the decodings in the task that runs the test.
  final class User: Decodable, Sendable {
    @TaskLocal static var decoded = Recorded<String>()
    let nick: String

    init(from decoder: any Decoder) throws {
      nick = try decoder.container(keyedBy: Keys.self).decode(String.self, forKey: .nick)
      Self.decoded.append(nick)
    }

    private enum Keys: String, CodingKey { case nick }
  }

  private struct GetUser: APIRequest {
    var path: Path { "/user" }
    var shape: JSONShape?
    var statusRule: StatusRule = .inherited
    var contentTypes: [String]?
    var envelope: Envelope = .inherited
    var jsonDecoding: JSONDecoding = .inherited
    var validation: ResponseValidation {
      ResponseValidation(status: statusRule, contentTypes: contentTypes, shape: shape, envelope: envelope)
    }
    var formats: Formats { Formats(jsonDecoding: jsonDecoding) }
    var cache: CachePolicy { .lifetime(.seconds(60)) }
    typealias Response = User
  }

  private struct GetSame: APIRequest {
    var path: Path { "/user" }
    var cache: CachePolicy { .lifetime(.seconds(60)) }
    typealias Response = User
  }

  private struct GetUserIfAny: APIRequest {
    var path: Path { "/user" }
    var cache: CachePolicy { .lifetime(.seconds(60)) }
    typealias Response = User?
  }

  private static func fixture(change: (inout ClientConfiguration) -> Void = { _ in }) -> CacheFixture {
    CacheFixture(change: change) { request, number in
      request.fields.contains("If-None-Match")
        ? .status(304, fields: [.eTag: "\"a\""])
        : ScriptedAnswer.json(#"{"nick":"ada \#(number)"}"#).with(.eTag, "\"a\"")
    }
  }

  private static func counted(_ body: (Recorded<String>) async throws -> Void) async throws {
    let decoded = Recorded<String>()
    try await User.$decoded.withValue(decoded) { try await body(decoded) }
  }

  @Test func `hits share one decoded value`() async throws {
    try await Self.counted { decoded in
      let fixture = Self.fixture()
      _ = try await fixture.client.send(GetUser())
      let first = try await fixture.client.send(GetUser())
      for _ in 1...5 {
        let again = try await fixture.client.send(GetUser())
        #expect(again === first)
      }
      #expect(decoded.count == 2, "once from the server, once from the entry")
    }
  }

  @Test func `optional values are decoded once`() async throws {
    try await Self.counted { decoded in
      let fixture = Self.fixture()
      for _ in 1...3 {
        let user = try await fixture.client.send(GetUserIfAny())
        #expect(user?.nick == "ada 1")
      }
      #expect(decoded.count == 2 && fixture.asked == 1)
    }
  }

  @Test(arguments: ["shape", "status", "type", "decoding", "request"])
  func `other rules decode again`(_ name: String) async throws {
    try await Self.counted { decoded in
      let fixture = Self.fixture()
      for _ in 1...3 { _ = try await fixture.client.send(GetUser()) }
      let before = decoded.count
      switch name {
      case "shape": _ = try await fixture.client.send(GetUser(shape: ["nick": .string]))
      case "status": _ = try await fixture.client.send(GetUser(statusRule: .range(200...200)))
      case "type": _ = try await fixture.client.send(GetUser(contentTypes: ["application/json"]))
      case "decoding":
        _ = try await fixture.client.send(GetUser(jsonDecoding: JSONDecoding(keys: .convertFromSnakeCase)))
      default: _ = try await fixture.client.send(GetSame())
      }
      #expect(decoded.count == before + 1 && fixture.asked == 1)
    }
  }

  @Test func `new response is decoded again`() async throws {
    try await Self.counted { decoded in
      let fixture = Self.fixture()
      for _ in 1...2 { _ = try await fixture.client.send(GetUser()) }
      _ = try await fixture.client.send(GetUser(), options: .cache(.ignoringCache))
      #expect(try await fixture.client.send(GetUser()).nick == "ada 2")
      #expect(decoded.all == ["ada 1", "ada 1", "ada 2", "ada 2"])
    }
  }

  @Test func `body-changing interceptor disables kept values`() async throws {
    try await Self.counted { decoded in
      let turns = Recorded<Int>()
      let fixture = Self.fixture { $0.interceptors.calls = [Turning(turns: turns)] }
      for number in 1...3 {
        let user = try await fixture.client.send(GetUser())
        #expect(user.nick == "turn \(number)")
      }
      #expect(decoded.count == 3 && fixture.asked == 1)
    }
  }

  @Test func `kept value respects another client's interceptor`() async throws {
    let store = MemoryStore()
    let plain = CacheFixture(store: store) { _, _ in .json(#"{"nick":"plain"}"#) }
    let turning = CacheFixture(store: store, change: { $0.interceptors.calls = [Turning(turns: Recorded())] }) { _, _ in
      .json(#"{"nick":"other"}"#)
    }
    for _ in 1...2 { _ = try await plain.client.send(GetUser()) }
    #expect(try await turning.client.send(GetUser()).nick == "turn 1")
    #expect(try await plain.client.send(GetUser()).nick == "plain")
  }

  private struct Turning: Interceptor {
    let turns: Recorded<Int>
    func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
      var response = try await next(request)
      turns.append(1)
      response.body = Data(#"{"nick":"turn \#(turns.count)"}"#.utf8)
      return response
    }
  }
}
