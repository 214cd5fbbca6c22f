import Errand
import ErrandCore
import ErrandJSON
import ErrandTesting
import Foundation
import Testing

/// The origin of a response and its reason, and how a hit resembles a response of the server.
struct OriginTests {
  @Test func `each origin has a reason`() async throws {
    let fixture = CacheFixture { request, number in
      request.fields.contains("If-None-Match")
        ? .status(304, fields: [.eTag: "\"a\""])
        : .page("answer \(number)", [.eTag: "\"a\"", "Cache-Control": "max-age=60"])
    }
    func ask(_ mode: CacheReadMode) async throws -> APIResponse<String> {
      try await fixture.client.response(Page.http(), options: .cache(mode))
    }
    let network = try await ask(.asDeclared)
    #expect(network.origin == .network && network.metrics.cache?.miss == .missing)
    #expect(network.metrics.cache?.status == "Errand; fwd=miss; fwd-status=200; stored; detail=missing")
    #expect(network.metrics.cache?.reason == "The request was sent to the server: nothing is stored for this request.")
    let fresh = try await ask(.asDeclared)
    #expect(fresh.origin == .cacheFresh && fresh.metrics.cache?.miss == nil && fresh.metrics.attempts == 0)
    #expect(fresh.metrics.cache?.status == "Errand; hit; ttl=60")
    #expect(fresh.metrics.cache?.reason == "The stored response is fresh for 60 seconds.")
    fixture.pass(70)
    let stale = try await ask(.cachedElseLoad)
    #expect(stale.origin == .cacheStale && stale.metrics.cache?.status == "Errand; hit; ttl=-10; detail=any-age")
    let renewed = try await ask(.asDeclared)
    #expect(renewed.origin == .revalidated && renewed.metrics.cache?.origin == .revalidated)
    let ignored = try await ask(.ignoringCache)
    #expect(ignored.metrics.cache?.status == "Errand; fwd=request; fwd-status=200; stored; detail=ignored")
    let statistics = fixture.cache.statistics
    #expect(statistics.requests == 5 && statistics.network == 2 && statistics.stored == 2)
    #expect(
      statistics.freshHits == 1 && statistics.staleHits == 1 && statistics.revalidated == 1 && statistics.hits == 3)
    #expect(statistics.bytesSaved == Int64("answer 1".utf8.count * 3))
  }

  @Test(arguments: [
    ("max-age=60, no-cache", "x", CacheReadMode.cachedElseLoad, "no-cache"),
    ("max-age=60, no-cache", "x", .cacheOnlyAtAnyAge, "no-cache"),
    ("max-age=60", "max-age=5, max-stale=60", .asDeclared, "max-stale"),
  ])
  func `fresh response counts as fresh`(
    _ stored: String, _ asked: String, _ mode: CacheReadMode, _ detail: String
  ) async throws {
    let fixture = CacheFixture { _, number in .page("answer \(number)", ["Cache-Control": "\(stored)"]) }
    _ = try await fixture.client.send(Page.http())
    fixture.pass(10)
    let page = Page.http(headers: ["Cache-Control": .text(asked)])
    let response = try await fixture.client.response(page, options: .cache(mode))
    #expect(response.value == "answer 1" && response.origin == .cacheFresh)
    #expect(response.metrics.cache?.status == "Errand; hit; ttl=50; detail=\(detail)")
    #expect(response.metrics.cache?.reason.contains("is stale") == false)
    #expect(fixture.cache.statistics.freshHits == 1 && fixture.cache.statistics.staleHits == 0)
  }

  @Test func `interceptor's response is local`() async throws {
    let fixture = CacheFixture(change: { $0.interceptors.calls = [Answering()] }) { _, _ in .text("server") }
    for _ in 1...2 {
      let answer = try await fixture.client.response(Page())
      #expect(answer.origin == .local && answer.value == "made here")
    }
    #expect(fixture.asked == 0)
    #expect(await fixture.cache.entries().isEmpty)
  }

  @Test func `miss has a request but no response`() async throws {
    let fixture = CacheFixture { _, _ in .text("server") }
    let outcome = await fixture.client.outcome(of: Page(), options: .cache(.cacheOnly))
    #expect(outcome.error?.stage == .cache && outcome.error?.code == .cacheMiss && outcome.response == nil)
    #expect(outcome.request?.url.path == "/page" && outcome.origin == nil && outcome.metrics.attempts == 0)
  }

  @Test(
    arguments: [
      (.asDeclared, 1, .expired, "fwd=stale; detail=expired", "the stored response had expired"),
      (.networkElseCached, 0, .missing, "fwd=miss; detail=missing", "nothing is stored for this request"),
    ] as [(CacheReadMode, Int, CacheMiss, String, String)])
  func `failed call has a report`(
    mode: CacheReadMode, answers: Int, miss: CacheMiss, status: String, reason: String
  ) async throws {
    let fixture = CacheFixture { _, number in number <= answers ? .text("page") : .failure(.offline) }
    for _ in 0..<answers { _ = try await fixture.client.send(Page()) }
    fixture.pass(61)
    let outcome = await fixture.client.outcome(of: Page(), options: .cache(mode))
    let report = outcome.metrics.cache
    #expect(outcome.error != nil && report?.origin == .local && report?.miss == miss)
    #expect(report?.status == "Errand; \(status)" && report?.reason == "The cache served no response: \(reason).")
  }

  // MARK: - The same pipeline

  @Test func `hit notifies like any response`() async throws {
    let fixture = CacheFixture { _, _ in .text("body") }
    _ = try await fixture.client.send(HookedPage())
    let told = Recorded<String>()
    let accessory = Counting()
    let answer = try await fixture.client.response(
      HookedPage(told: told), options: CallOptions(accessories: [accessory]))
    #expect(answer.origin == .cacheFresh && answer.status == 200)
    #expect(answer.fields[.contentType] == "text/plain; charset=utf-8" && answer.request.url.path == "/page")
    #expect(told.all == ["before body", "after body"] && accessory.counts == [1, 1, 1])
  }

  @MainActor @Test func `delegate is notified of a hit`() async throws {
    let fixture = CacheFixture { _, _ in .text("body") }
    _ = try await fixture.client.send(Page())
    let delegate = TwofoldDeliveryTests.Delegate()
    fixture.client.start(Page(), delegate: delegate)
    try await delegate.ended.wait()
    #expect(delegate.told.all == ["finished body false"] && fixture.asked == 1)
  }

  @Test func `hit is validated by this call's shape`() async throws {
    let fixture = CacheFixture { _, _ in .json(#"{"nick":7}"#) }
    _ = try await fixture.client.send(Shaped(shape: nil))
    let error = await fixture.client.outcome(of: Shaped(shape: ["nick": .string])).error
    #expect(error?.code == .shape && fixture.asked == 2, "the entry is removed and the request sent once more")
    #expect(await fixture.cache.entries().isEmpty, "a response that fails the shape is not stored")
  }

  @Test func `hit is validated by content type`() async throws {
    let fixture = CacheFixture { _, _ in .text("body") }
    _ = try await fixture.client.send(Shaped(shape: nil))
    let error = await fixture.client.outcome(of: Shaped(shape: nil, contentTypes: ["application/json"])).error
    #expect(error?.code == .contentType)
  }

  private struct Answering: Interceptor {
    func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
      HTTPResponse(head: ResponseHead(status: 200), body: Data("made here".utf8), url: request.url)
    }
  }

  private struct Shaped: APIRequest {
    var path: Path { "/page" }
    var shape: JSONShape?
    var contentTypes: [String]?
    var validation: ResponseValidation { ResponseValidation(contentTypes: contentTypes, shape: shape) }
    var cache: CachePolicy { .lifetime(.seconds(60)) }
  }
}
