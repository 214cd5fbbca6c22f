import Errand
import ErrandTesting
import Foundation
import Testing

struct RedirectTests {
  @Test func `redirects are followed and counted`() async throws {
    let bench = ScriptedClient(answers: [
      .redirect(to: "/b"), .redirect(to: "c?x=1"), .redirect(to: "//o/d"), .text("done"),
    ])
    let response = try await bench.client.response(Ask<String>(path: "/v1/a"))
    #expect(response.value == "done" && response.raw.url.string == "http://o/d")
    #expect(response.metrics.redirects == 3 && response.metrics.attempts == 4)
    #expect(
      bench.transport.requests.map(\.url.string)
        == ["http://h.example/v1/a", "http://h.example/b", "http://h.example/c?x=1", "http://o/d"])
  }

  @Test func `metrics describe each hop`() async throws {
    let bench = ScriptedClient(answers: [.redirect(to: "/b?token=MARKER", status: 303), .text("done")])
    let response = try await bench.client.response(Ask<String>(path: "/v1/a", method: .post))
    let hops = response.metrics.exchanges
    #expect(hops.compactMap(\.method) == [.post, .get] && hops.map(\.status) == [303, 200])
    #expect(hops.compactMap { $0.url?.string } == ["http://h.example/v1/a", "http://h.example/b?token=MARKER"])
    #expect(!"\(hops) \(String(reflecting: hops))".contains("MARKER"))
  }

  @Test func `redirects stop after ten hops`() async {
    let count = Recorded<Int>()
    let bench = ScriptedClient(answer: { _ in
      count.append(1)
      return .redirect(to: "/\(count.count)")
    })
    let error = await bench.failure(of: Sending())
    #expect(error?.code == .tooManyRedirects && error?.stage == .redirect && error?.status == 302)
    #expect(bench.transport.requests.count == 11 && error?.attempts == 11)
  }

  @Test func `redirect loop is detected`() async {
    let bench = ScriptedClient(answer: { .redirect(to: $0.url.path == "/p" ? "/q" : "/p") })
    #expect(await bench.failure(of: Sending())?.code == .redirectLoop)
    #expect(bench.transport.requests.count == 4)
  }

  @Test func `first redirect to same URL is followed`() async {
    // A server that sets a cookie and redirects to the requested URL.
    let count = Recorded<Int>()
    let bench = ScriptedClient(answer: { _ in
      count.append(1)
      return count.count == 1 ? .redirect(to: "/p") : .text("in")
    })
    #expect(await bench.failure(of: Sending()) == nil)
    #expect(bench.transport.requests.map(\.url.path) == ["/p", "/p"])
  }

  @Test func `secrets do not return after another origin`() async throws {
    let bench = ScriptedClient(
      { $0.headers = ["X-Api-Key": .secret("MARKER"), "Cookie": "MARKER", "X-Plain": "p"] },
      answer: { request in
        switch request.url.string {
        case "http://h.example/p": .redirect(to: "/same")
        case "http://h.example/same": .redirect(to: "http://h.example:81/away")
        case "http://h.example:81/away": .redirect(to: "http://h.example/back")
        default: .text("done")
        }
      })
    _ = try await bench.client.send(Sending(credential: .bearer("MARKER")))
    let hops = bench.transport.requests
    #expect(hops.count == 4)
    #expect(hops[0].fields["X-Api-Key"] == "MARKER" && hops[1].fields["X-Api-Key"] == "MARKER")
    #expect(hops[1].fields[.authorization] == "Bearer MARKER" && hops[1].fields[.cookie] == "MARKER")
    #expect(hops[2].fields.all.allSatisfy { !$0.value.contains("MARKER") } && hops[2].fields["X-Plain"] == "p")
    #expect(hops[3].fields["X-Api-Key"] == nil && hops[3].fields[.cookie] == nil)
  }

  @Test func `unmarked key stays on its origin`() async throws {
    let bench = ScriptedClient(
      { $0.headers = ["X-Api-Key": "MARKER", "X-Plain": "p"] },
      answer: { $0.url.host == "h.example" ? .redirect(to: "http://o/") : .text("done") })
    _ = try await bench.client.send(Sending())
    _ = try await bench.client.send(Sending(redirects: .follow(resendsFieldsElsewhere: ["X-Api-Key"])))
    #expect(bench.transport.requests.map { $0.fields["X-Api-Key"] } == ["MARKER", nil, "MARKER", "MARKER"])
    #expect(bench.transport.requests.allSatisfy { $0.fields["X-Plain"] == "p" })
  }

  @Test func `idempotency key follows to another origin`() async throws {
    struct Cancel: APIRequest {
      let path: Path = "/order"
      let method: HTTPMethod = .delete
      let idempotency: Idempotency = .keyed("X-Idempotency-Key")
    }
    let bench = ScriptedClient(answer: {
      $0.url.host == "h.example" ? .redirect(to: "http://o/", status: 307) : .text("done")
    })
    _ = try await bench.client.send(Cancel())
    let keys = bench.transport.requests.map { $0.fields["X-Idempotency-Key"] }
    #expect(keys.count == 2 && keys[0] != nil && keys[0] == keys[1])
  }

  @Test func `provider's credential stays on its origin`() async throws {
    let bench = ScriptedClient(
      { $0.credentials = FixedCredential(.bearer("MARKER")) },
      answer: { $0.url.host == "h.example" ? .redirect(to: "http://o/") : .text("done") })
    _ = try await bench.client.send(Sending())
    #expect(bench.transport.requests.map { $0.fields.contains(.authorization) } == [true, false])
  }

  @Test func `POST becomes GET unless 307`() async throws {
    let bench = ScriptedClient(answers: [.redirect(to: "/b"), .text("x"), .redirect(to: "/b", status: 307), .text("x")])
    _ = try await bench.client.send(Sending(method: .post, arguments: ["a": 1]))
    _ = try await bench.client.send(Sending(method: .post, arguments: ["a": 1]))
    #expect(bench.transport.requests.map(\.method) == [.post, .get, .post, .post])
    #expect(bench.transport.requests.map(\.text) == ["a=1", nil, "a=1", "a=1"])
    #expect(bench.transport.requests.map { $0.fields.contains(.contentType) } == [true, false, true, true])
  }

  @Test func `body is not resent to another origin`() async {
    let bench = ScriptedClient(answer: { _ in .redirect(to: "http://o/b", status: 307) })
    let error = await bench.failure(of: Sending(method: .post, arguments: ["a": 1]))
    #expect(error?.code == .redirectRefused && bench.transport.requests.count == 1)
  }

  @Test func `https does not redirect to http`() async {
    let bench = ScriptedClient(baseURL: "https://h.example", answer: { _ in .redirect(to: "http://h.example/b") })
    #expect(await bench.failure(of: Sending())?.code == .redirectRefused)
    #expect(bench.transport.requests.count == 1)
  }

  @Test func `redirects can be turned off`() async {
    let bench = ScriptedClient({ $0.redirects = .never }, answer: { _ in .redirect(to: "/b") })
    #expect(await bench.failure(of: Sending())?.code == .redirectRefused)
    #expect(await bench.failure(of: Sending(redirects: .manual))?.code == .status)
  }

  @Test(arguments: ["ftp://o/", "http://", "http://h:0/", "data:,x"])
  func `invalid Location is an error`(location: String) async {
    let bench = ScriptedClient(answer: { _ in .redirect(to: location) })
    let error = await bench.failure(of: Sending())
    #expect(error?.code == .invalidRedirect && error?.response?.status == 302)
  }

  @Test func `missing Location is an error`() async {
    let error = await ScriptedClient(answers: [.status(301)]).failure(of: Sending())
    #expect(error?.message == "The server redirected with status 301, but the response has no Location field.")
  }

  @Test func `user info in Location is never sent`() async throws {
    let bench = ScriptedClient(answers: [.redirect(to: "http://u:MARKER@h.example/b"), .text("x")])
    _ = try await bench.client.send(Sending())
    let hop = try #require(bench.transport.requests.last)
    #expect(hop.url.string == "http://h.example/b" && !hop.fields.contains(.authorization))
  }

  @Test func `304 is not a redirect`() async {
    let bench = ScriptedClient(answers: [.redirect(to: "/b", status: 304)])
    #expect(await bench.failure(of: Sending(statusRule: [304])) == nil)
    #expect(bench.transport.requests.count == 1)
  }
}
