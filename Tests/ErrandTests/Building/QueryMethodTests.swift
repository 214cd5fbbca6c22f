import Errand
@testable import ErrandCore
import ErrandTesting
import Foundation
import Testing
import TestSupport

/// QUERY (RFC 10008) as a read with a body.
struct QueryMethodTests {
  private static let arguments: Arguments = ["select": "surname,givenname,email", "limit": 10]

  private func ask(_ status: Int = 200) -> Ask<String> {
    Ask(path: "/contacts", method: .query, arguments: Self.arguments)
  }

  @Test func `method is safe and idempotent`() {
    #expect(HTTPMethod.query.rawValue == "QUERY" && HTTPMethod.query.isSafe && HTTPMethod.query.isIdempotent)
    #expect(JoinRule.safe.admits(.query) && Idempotency.byMethod.allows(.query))
    #expect(!HTTPMethod("query").isSafe && !Idempotency.byMethod.allows("SEARCH"))
  }

  @Test func `arguments go into the body`() async throws {
    let form = try #require(try await ScriptedClient().sent(ask()))
    #expect(form.url.query == nil && form.fields[.contentType] == "application/x-www-form-urlencoded")
    #expect(form.formPairs == [["select", "surname,givenname,email"], ["limit", "10"]])
    let bench = ScriptedClient({ $0.formats.arguments = .jsonByMethod }) { _ in .status(200) }
    let json = try #require(try await bench.sent(ask()))
    #expect(json.fields[.contentType] == "application/json" && json.text?.hasPrefix(#"{"limit":10,"#) == true)
  }

  @Test func `one-off query returns a value`() async throws {
    let bench = ScriptedClient(answers: [.json(#"["Smith"]"#)])
    let names = try await bench.client.query("/contacts", as: [String].self, arguments: Self.arguments)
    #expect(names == ["Smith"] && bench.transport.requests.first?.method == .query)
  }

  @Test(arguments: [301, 302, 307, 308]) func `redirect keeps method and body`(status: Int) async throws {
    let bench = ScriptedClient(answers: [.redirect(to: "/people", status: status), .text("found")])
    #expect(try await bench.client.send(ask()) == "found")
    let hops = bench.transport.requests
    #expect(hops.map(\.method) == [.query, .query] && hops.map(\.url.path) == ["/contacts", "/people"])
    #expect(hops[0].text == hops[1].text && hops[0].text?.isEmpty == false)
    #expect(hops[1].fields[.contentType] == "application/x-www-form-urlencoded")
  }

  @Test func `status 303 leads to a GET`() async throws {
    let bench = ScriptedClient(answers: [.redirect(to: "/contacts/stored-queries/42", status: 303), .text("found")])
    #expect(try await bench.client.send(ask()) == "found")
    let last = try #require(bench.transport.requests.last)
    #expect(last.method == .get && last.body == nil && !last.fields.contains(.contentType))
    #expect(last.url.path == "/contacts/stored-queries/42")
  }

  @Test func `query is retried`() async throws {
    let bench = ScriptedClient(answers: [.status(503), .text("found")]) {
      $0.retries = RetryPolicy(firstDelay: .zero, busyDelay: .zero)
    }
    #expect(try await bench.client.send(ask()) == "found")
    #expect(bench.transport.requests.map(\.method) == [.query, .query])
  }

  private struct Lower: APIRequest {
    var path: Path { "/contacts" }
    var method: HTTPMethod { "query" }
  }

  @Test(.enabled(if: isDebugBuild)) func `lower-case method is named`() async {
    let lines = Recorded<LogLine>()
    _ = await ScriptedClient({ $0.log = { lines.append($0) } }) { _ in .status(200) }.failure(of: Lower())
    #expect(
      lines.all.contains { $0.text.contains("the method \"query\" is not QUERY") && $0.text.contains("`.query`") })
  }
}
