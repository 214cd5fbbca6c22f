import Errand
import ErrandTesting
import Foundation
import TestSupport
import Testing

/// Errors of decoding that name the setting by which the response can be read.
struct DecodeHintTests {
  struct User: Decodable, Sendable { let userName: String }
  struct Post: Decodable, Sendable { let at: Date }

  private func message<Value: Decodable & Sendable>(
    _ type: Value.Type, _ body: String, _ decoding: JSONDecoding = .inherited
  ) async -> String {
    await ScriptedClient(answers: [.json(body)]).failure(of: Ask<Value>(jsonDecoding: decoding))?.message ?? "no error"
  }

  @Test(arguments: [JSONDecoding.inherited, .standard]) func `snake case names the strategy`(_ rules: JSONDecoding)
    async
  {
    #expect(
      await message(User.self, #"{"user_name":"Ada"}"#, rules)
        == "The response could not be decoded as JSON: $.userName: the key \"userName\" is missing, in "
        + #"{"user_name":"Ada"}; to read "user_name", set `jsonDecoding` of the `formats` to "#
        + "`.fast(keys: .convertFromSnakeCase)`.")
  }

  @Test func `envelope names its path`() async {
    let text = await message(User.self, #"{"code":0,"data":{"userName":"Ada"}}"#)
    #expect(
      text.hasSuffix(#"; the key is inside "data": set `envelope` of the `validation` to `Envelope(value: "data")`."#))
  }

  @Test func `dates name their strategy`() async {
    let text = await message(Post.self, #"{"at":"2026-11-27T16:00:00Z"}"#)
    #expect(text.hasSuffix("; to read this date, set `jsonDecoding` of the `formats` to `.fast(dates: .iso8601)`."))
    let seconds = await message(Post.self, #"{"at":1764259200}"#, .fast(dates: .iso8601))
    #expect(
      seconds.hasSuffix(
        "; to read this date, set `jsonDecoding` of the `formats` to `.fast(dates: .secondsSince1970)`."))
  }

  private struct GetEntry<Mark>: APIRequest {
    struct Response: Decodable, Sendable {
      let since: Date
      let deleted: Date?
      let text: String?
    }
    var path: Path { "/entry" }
  }

  /// Each case has a request type of its own, because a warning is written once for a type.
  private func warnings<R: APIRequest>(about request: R, _ answers: [String]) async throws -> [String] {
    let lines = Recorded<LogLine>()
    let bench = ScriptedClient(answers: answers.map { .json($0) }, change: { $0.log = { lines.append($0) } })
    for _ in answers { _ = try await bench.client.send(request) }
    return lines.all.filter { $0.level == .warning }.map(\.text)
  }

  @Test(.enabled(if: isDebugBuild)) func `a zero hides no wrong date`() async throws {
    let found = try await warnings(about: GetEntry<Int>(), [#"{"since":1764259200,"deleted":0}"#])
    #expect(found.count == 1 && found.first?.contains("the date $.since") == true)
  }

  @Test(.enabled(if: isDebugBuild)) func `responses before the wrong date do not matter`() async throws {
    let others = ["0", "786000000", "1"].map { #"{"since":\#($0),"text":"1764259200"}"# }
    let early = Array(repeating: #"{"since":1}"#, count: 20)
    let found = try await warnings(about: GetEntry<Bool>(), early + others + [#"{"since":1764259200}"#])
    #expect(found.count == 1)
  }

  @Test(.enabled(if: isDebugBuild), arguments: [20_000, 900_000])
  func `dates of large bodies are checked`(size: Int) async throws {
    let text = String(repeating: "x", count: size)
    let body = #"{"text":"\#(text)","since":1764259200}"#
    let found =
      size < 100_000
      ? try await warnings(about: GetEntry<Int8>(), [body]) : try await warnings(about: GetEntry<Int16>(), [body])
    #expect(found.count == 1)
  }

  private struct GetPost: APIRequest {
    var path: Path { "/post" }
    var validation: ResponseValidation { ResponseValidation(envelope: Envelope(value: "data")) }
    typealias Response = Post
  }

  @Test(.enabled(if: isDebugBuild)) func `date in the wrong year is logged`() async throws {
    let lines = Recorded<LogLine>()
    let bench = ScriptedClient {
      $0.log = { lines.append($0) }
    } answer: { _ in
      .json(#"{"data":{"at":1764259200}}"#)
    }
    for _ in 0..<3 { _ = try await bench.client.send(GetPost()) }
    #expect(
      lines.all.filter { $0.level == .warning }.map(\.text) == [
        "GetPost: the date $.data.at of the response is read as a date in the year 2056, because by default numbers "
          + "count seconds since 2001; if this server counts from 1970, set `jsonDecoding` of the `formats` to "
          + "`.fast(dates: .secondsSince1970)`."
      ])
  }
}
