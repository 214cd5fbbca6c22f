import Errand
import ErrandCache
import ErrandTesting
import Testing

struct LifetimeTests {
  private let fixture = CacheFixture { _, number in .text("answer \(number)") }

  @Test func `fresh response avoids the server`() async throws {
    let first = try await fixture.client.response(Page())
    fixture.pass(59)
    let second = try await fixture.client.response(Page())
    #expect(first.value == "answer 1" && second.value == "answer 1")
    #expect(first.origin == .network && second.origin == .cacheFresh)
    #expect(fixture.asked == 1)
    #expect(second.fields["Age"] == "59")
    #expect(second.metrics.cache?.status == "Errand; hit; ttl=1")
    #expect(second.metrics.attempts == 0)
  }

  @Test func `expired response reaches the server`() async throws {
    _ = try await fixture.client.send(Page())
    fixture.pass(61)
    #expect(try await fixture.client.send(Page()) == "answer 2")
    #expect(fixture.asked == 2)
  }

  @Test func `expiry without a validator is named`() async throws {
    _ = try await fixture.client.send(Page())
    fixture.pass(61)
    let report = try await fixture.client.response(Page()).metrics.cache
    #expect(report?.reason == "The request was sent to the server: the stored response had expired.")
    #expect(report?.status == "Errand; fwd=stale; fwd-status=200; stored; detail=expired")
    #expect(report?.miss == .expired)
  }

  @Test(arguments: [0, -5]) func `zero lifetime stores nothing`(_ seconds: Int) async throws {
    let page = Page(cache: .lifetime(.seconds(seconds)))
    _ = try await fixture.client.send(page)
    #expect(try await fixture.client.send(page) == "answer 2")
  }

  @Test func `another version is never used`() async throws {
    _ = try await fixture.client.send(Page())
    let newer = Page(cache: .lifetime(.seconds(60), version: 2))
    let error = await fixture.client.outcome(of: newer, options: .cache(.cacheOnly)).error
    #expect(error?.cacheMiss == .otherVersion)
    #expect(try await fixture.client.send(newer) == "answer 2")
  }

  @Test func `POST is cached by its body`() async throws {
    let post = Page(method: .post, arguments: ["a": 1])
    _ = try await fixture.client.send(post)
    #expect(try await fixture.client.send(post) == "answer 1")
    #expect(try await fixture.client.send(Page(method: .post, arguments: ["a": 2])) == "answer 2")
  }

  @Test func `excluded arguments share a response`() async throws {
    let policy = CachePolicy.lifetime(.seconds(60)).keyed(by: CacheKeyRule(leavingOut: ["time"]))
    _ = try await fixture.client.send(Page(cache: policy, arguments: ["time": 1, "a": 1]))
    #expect(try await fixture.client.send(Page(cache: policy, arguments: ["time": 2, "a": 1])) == "answer 1")
    #expect(try await fixture.client.send(Page(cache: policy, arguments: ["time": 2, "a": 2])) == "answer 2")
  }

  @Test func `cached then fresh delivers both`() async throws {
    _ = try await fixture.client.send(Page())
    var seen: [(String, ResponseOrigin)] = []
    for try await page in fixture.client.cachedThenFresh(Page()) { seen.append((page.value, page.origin)) }
    #expect(seen.map(\.0) == ["answer 1", "answer 2"])
    #expect(seen.map(\.1) == [.cacheFresh, .network])
  }
}
