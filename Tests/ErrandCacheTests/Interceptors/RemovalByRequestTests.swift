import Errand
import ErrandCache
import ErrandTesting
import Testing

struct RemovalByRequestTests {
  private let fixture = CacheFixture { _, number in .text("answer \(number)") }

  @Test func `removal affects one request only`() async throws {
    _ = try await fixture.client.send(Page())
    _ = try await fixture.client.send(Page(name: "other"))
    try await fixture.client.removeCached(Page())
    #expect(try await fixture.client.send(Page()) == "answer 3")
    #expect(try await fixture.client.send(Page(name: "other")) == "answer 2")
    #expect(fixture.asked == 3)
  }

  @Test func `removal sends and notifies nothing`() async throws {
    let told = Recorded<String>()
    struct Listener: Accessory {
      let told: Recorded<String>
      func willStart(_ call: CallInfo) { told.append("start") }
    }
    fixture.client.configure { $0.accessories = [Listener(told: told)] }
    try await fixture.client.removeCached(Page())
    #expect(fixture.asked == 0 && told.all.isEmpty && fixture.client.running.isEmpty)
  }

  @Test func `invalid request throws`() async throws {
    await #expect(throws: APIError.self) { try await fixture.client.removeCached(Page(name: "..")) }
  }

  private struct Answering: Interceptor {
    func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
      HTTPResponse(head: ResponseHead(status: 200), url: request.url)
    }
  }

  @Test func `answering interceptor prevents the removal`() async throws {
    _ = try await fixture.client.send(Page())
    fixture.client.configure { $0.interceptors.calls = [Answering()] }
    let error = await #expect(throws: APIError.self) { try await fixture.client.removeCached(Page()) }
    #expect(error?.code == .interceptor && error?.message.contains("the request Page") == true)
    #expect(await fixture.cache.entries().count == 1)
  }

  @Test func `client exposes its cache`() async throws {
    _ = try await fixture.client.send(Page())
    #expect(await fixture.client.cache?.entries().count == 1)
    fixture.client.configure { $0.cache.store = .off }
    #expect(fixture.client.cache == nil)
    try await fixture.client.removeCached(Page())
  }

  @Test func `cache only reports expired`() async throws {
    _ = try await fixture.client.send(Page())
    fixture.pass(61)
    let error = await fixture.client.outcome(of: Page(), options: .cache(.cacheOnly)).error
    #expect(error?.stage == .cache && error?.cacheMiss == .expired)
    #expect(try await fixture.client.send(Page(), options: .cache(.cacheOnlyAtAnyAge)) == "answer 1")
    #expect(fixture.asked == 1)
  }
}
