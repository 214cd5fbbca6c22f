import Errand
import ErrandTesting
import Foundation
import PublicRequests
import Testing

/// Requests that another module declares as public.
struct PublicRequestTests {
  @Test func `public requests are sent`() async throws {
    let bench = ScriptedClient { _ in
    } answer: { request in
      request.url.path == "/cart" ? .json(#"{"message":"sold out"}"#, status: 409) : .json(#"{"nick":"Ada","level":9}"#)
    }
    let user = try await bench.client.send(GetUser(id: 7))
    #expect(user.nick == "Ada" && user.level == 9)
    let error = await bench.failure(of: AddToCart(article: 3))
    #expect(error?.body(as: ShopFailure.self)?.message == "sold out")
    #expect(try await bench.client.send(GetPicture(name: "a")).isEmpty == false)
    #expect(bench.transport.requests.map(\.method) == [.get, .post, .get])
    #expect(bench.transport.requests.map { $0.fields["X-Shop"] } == [nil, "1", nil])
  }
}
