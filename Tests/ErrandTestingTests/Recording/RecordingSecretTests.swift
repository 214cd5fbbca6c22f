import Errand
import ErrandHTTP
import ErrandTesting
import Foundation
import Testing

/// Secrets in texts with several URLs, and parts of secrets that a server repeats elsewhere.
struct RecordingSecretTests {
  /// The recorded response to a GET request with these fields.
  private func recorded(_ reply: ScriptedAnswer, to fields: HTTPFields = HTTPFields()) async throws -> ScriptedAnswer {
    let recorder = RecordingTransport(ScriptedTransport(reply))
    _ = try await recorder.send(Exchange(request: HTTPRequest(url: "https://h.example/", fields: fields)))
    return try #require(try recorder.recording().exchanges.first).answer
  }

  @Test(arguments: [
    ("Link", "<https://a.example>, <https://u:p@b.example>", "<https://a.example>, <https://masked@b.example>"),
    ("Link", #"<https://a.example>; title="u@b.example""#, #"<https://a.example>; title="u@b.example""#),
    ("Location", #"https://ada:my "pass@b.example/"#, "https://masked@b.example/"),
    ("X-Page", "see https://a.example and u@b.example", "see https://a.example and u@b.example"),
    ("Location", "https://a.example?next=https://u:p@b.example", "https://a.example?next=https://masked@b.example"),
  ])
  func `users of all URLs are masked`(_ name: String, _ value: String, _ expected: String) async throws {
    let field = HTTPFieldName(name)
    let answer = try await recorded(ScriptedAnswer(fields: HTTPFields([HTTPField(field, value)])))
    #expect(answer.head.fields[field] == expected)
  }

  @Test(arguments: [
    HTTPField(.authorization, "Basic YWRhOnMzY3JldC1wYXNz"),
    HTTPField(.proxyAuthorization, "basic YWRhOnMzY3JldC1wYXNz"),
    HTTPField("Referer", "https://ada:s3cret-pass@h.example/"),
  ])
  func `password is masked without its user`(field: HTTPField) async throws {
    let answer = try await recorded(.text("s3cret-pass is too old"), to: HTTPFields([field]))
    #expect(String(decoding: answer.body, as: UTF8.self) == "masked is too old")
  }

  @Test func `secret in a reason phrase is masked`() async throws {
    var reply = ScriptedAnswer.text("ok")
    reply.head.reason = "token-12345678 has expired"
    reply.informational = [ResponseHead(status: 103, reason: "token-12345678")]
    let fields = HTTPFields([HTTPField(.authorization, "Bearer token-12345678")])
    let answer = try await recorded(reply, to: fields)
    #expect(answer.head.reason == "masked has expired")
    #expect(answer.informational.map(\.reason) == ["masked"])
  }
}
