import Errand
import ErrandTesting
import Testing

/// The behaviour after the rules of the call have rejected a stored response.
struct RejectedEntryTests {
  /// An order that is redirected to a page, which is decoded.
  private struct PickyOrder: APIRequest {
    var path: Path { "/orders" }
    var method: HTTPMethod { .post }
    var cache: CachePolicy { .http }
    var decoder: ResponseDecoder<String> { PickyPage(refuses: "old").decoder }
    typealias Response = String
  }

  @Test func `unsafe request is not repeated`() async throws {
    let fixture = CacheFixture { request, _ in
      switch request.url.path {
      case "/orders": .redirect(to: "/x", status: 303)
      case "/x": .redirect(to: "/page", status: 302).with(.cacheControl, "no-store")
      default: .page("old", ["Cache-Control": "max-age=600"])
      }
    }
    _ = try await fixture.client.send(Page.http())
    #expect(await fixture.client.outcome(of: PickyOrder()).error?.stage == .decode)
    #expect(fixture.transport.requests.map(\.url.path) == ["/page", "/orders", "/x"])
    #expect(await fixture.cache.entries().isEmpty, "the next call receives a new response")
  }

  /// Another account logs in while the stored response is rejected.
  private struct Switching: APIRequest {
    let names: Recorded<String>
    var path: Path { "/page" }
    var cache: CachePolicy { .lifetime(.seconds(60)) }
    var decoder: ResponseDecoder<String> {
      ResponseDecoder("switching") { [names] body, _ in
        names.append("eve")
        if String(decoding: body, as: UTF8.self) == "old" { throw PickyPage.Refusal() }
        return String(decoding: body, as: UTF8.self)
      }
    }
    typealias Response = String
  }

  private struct Named: CredentialProvider {
    let names: Recorded<String>
    var account: String? { names.all.last }
    func credential(for account: String?) async throws -> Credential? { account.map { .bearer($0) } }
  }

  private struct Passing: Interceptor {
    func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
      try await next(request)
    }
  }

  @Test(arguments: [true, false]) func `call keeps its account`(_ hasInterceptor: Bool) async throws {
    let names = Recorded(["ada"])
    let fixture = CacheFixture(change: {
      $0.credentials = Named(names: names)
      if hasInterceptor { $0.interceptors.calls = [Passing()] }
    }) { _, number in .text(number == 1 ? "old" : "new") }
    _ = try await fixture.client.send(Page())
    #expect(try await fixture.client.send(Switching(names: names)) == "new")
    #expect(fixture.transport.requests.map { $0.fields[.authorization] } == ["Bearer ada", "Bearer ada"])
  }
}
