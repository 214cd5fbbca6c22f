import Errand
import ErrandTesting
import Foundation
import Testing

/// The notifications of `cached, then fresh`: closures, executor, delegate, accessories, hooks, interceptors.
struct TwofoldDeliveryTests {
  private static func fixture(
    changes: Bool = true, change: (inout ClientConfiguration) -> Void = { _ in }
  ) -> CacheFixture {
    CacheFixture(change: change) { _, number in .text(changes ? "answer \(number)" : "same") }
  }

  @Test(arguments: [true, false]) func `closures run once each, in order`(_ changes: Bool) async throws {
    let fixture = Self.fixture(changes: changes)
    _ = try await fixture.client.send(Page())
    let queue = DispatchQueue(label: "told")
    let told = Recorded<String>()
    let ended = Latch()
    fixture.client.start(
      cachedThenFresh: Page(), on: .queue(queue),
      onCached: {
        dispatchPrecondition(condition: .onQueue(queue))
        told.append("cached \($0.value) \($0.origin)")
      },
      onEnd: {
        dispatchPrecondition(condition: .onQueue(queue))
        told.append("end \($0.value ?? "-") \($0.isUnchanged)")
        ended.open()
      })
    try await ended.wait()
    #expect(
      told.all
        == (changes
          ? ["cached answer 1 cacheFresh", "end answer 2 false"] : ["cached same cacheFresh", "end same true"]))
  }

  @Test func `failure follows the cached response`() async throws {
    let fixture = CacheFixture { _, number in number == 1 ? .text("body") : .status(500) }
    _ = try await fixture.client.send(Page())
    let told = Recorded<String>()
    let ended = Latch()
    fixture.client.start(
      cachedThenFresh: Page(), on: .queue(DispatchQueue(label: "told")),
      onCached: { told.append("cached \($0.value)") },
      onEnd: {
        told.append("end \($0.error?.status ?? 0) \($0.isUnchanged)")
        ended.open()
      })
    try await ended.wait()
    #expect(told.all == ["cached body", "end 500 false"])
  }

  @Test func `deadline follows the cached response`() async throws {
    let latch = Latch()
    let fixture = CacheFixture { _, number in
      if number > 1 { try await latch.wait() }
      return .text("answer \(number)")
    }
    _ = try await fixture.client.send(Page())
    let queue = DispatchQueue(label: "told")
    let told = Recorded<String>()
    let ended = Latch()
    // The queue is busy until the deadline has passed.
    queue.suspend()
    fixture.client.start(
      cachedThenFresh: Page(), on: .queue(queue), onCached: { told.append("cached \($0.value)") },
      onEnd: {
        told.append("end \($0.error?.stage.rawValue ?? "-")")
        ended.open()
      })
    await latch.reached()
    fixture.clock.advance(by: .seconds(120))
    queue.resume()
    try await ended.wait()
    #expect(told.all == ["cached answer 1", "end deadline"])
  }

  @Test func `cancel in onCached ends the call`() async throws {
    let latch = Latch()
    let fixture = CacheFixture { _, number in
      if number > 1 { try await latch.wait() }
      return .text("answer \(number)")
    }
    _ = try await fixture.client.send(Page())
    let told = Recorded<String>()
    let ended = Latch()
    let client = fixture.client
    client.start(
      cachedThenFresh: Page(), on: .queue(DispatchQueue(label: "told")), options: .tag("one"),
      onCached: {
        told.append("cached \($0.value)")
        client.cancel(tag: "one")
      },
      onEnd: {
        told.append("end \($0.error?.stage.rawValue ?? "-")")
        ended.open()
      })
    try await ended.wait()
    #expect(told.all == ["cached answer 1", "end cancelled"])
  }

  @MainActor final class Delegate: CachedCallDelegate {
    let told = Recorded<String>()
    let ended = Latch()

    func requestCached(_ call: CallInfo, _ response: APIResponse<any Sendable>) {
      told.append("cached \(response.value) \(response.origin)")
    }
    func requestFinished(_ call: CallInfo, _ response: APIResponse<any Sendable>) {
      told.append("finished \(response.value) \(response.isUnchanged)")
      ended.open()
    }
    func requestFailed(_ call: CallInfo, _ error: APIError) {
      told.append("failed \(error.stage)")
      ended.open()
    }
  }

  @MainActor @Test(arguments: [true, false]) func `delegate is notified of both`(_ changes: Bool) async throws {
    let fixture = Self.fixture(changes: changes)
    _ = try await fixture.client.send(Page())
    let delegate = Delegate()
    fixture.client.start(cachedThenFresh: Page(), delegate: delegate)
    try await delegate.ended.wait()
    #expect(
      delegate.told.all
        == (changes
          ? ["cached answer 1 cacheFresh", "finished answer 2 false"]
          : ["cached same cacheFresh", "finished same true"]))
  }

  @MainActor @Test func `closures run on the main actor`() async throws {
    let fixture = Self.fixture()
    _ = try await fixture.client.send(Page())
    let told = Recorded<String>()
    let ended = Latch()
    fixture.client.start(
      cachedThenFresh: Page(), onCached: { told.append($0.value) },
      onEnd: {
        told.append($0.value ?? "-")
        ended.open()
      })
    try await ended.wait()
    #expect(told.all == ["answer 1", "answer 2"])
  }

  @Test func `accessories and hooks run once`() async throws {
    let fixture = Self.fixture()
    _ = try await fixture.client.send(HookedPage())
    let accessory = Counting()
    let told = Recorded<String>()
    let page = HookedPage(told: told)
    var values: [String] = []
    for try await answer in fixture.client.cachedThenFresh(page, options: CallOptions(accessories: [accessory])) {
      values.append(answer.value)
    }
    #expect(values == ["answer 1", "answer 2"])
    try await accessory.ended.wait()
    #expect(accessory.counts == [1, 1, 1])
    #expect(told.all == ["before answer 2", "after answer 2"])
  }

  @Test func `interceptors see both passes`() async throws {
    let seen = Recorded<String>()
    let fixture = Self.fixture { $0.interceptors.calls = [Stamping(seen: seen)] }
    var first = fixture.client.cachedThenFresh(Page()).makeAsyncIterator()
    #expect(try await first.next()?.value == "answer 1")
    #expect(seen.all == ["in", "failed cache", "in", "network"])
    #expect(fixture.asked == 1)
    #expect(fixture.transport.requests[0].fields["X-Stamp"] == "1", "the request frozen in the first pass is sent")
    #expect(fixture.transport.requests[0].url.query == "stamp=1")
  }

  @Test func `both passes use one account`() async throws {
    let provider = Shifting()
    let seen = Recorded<String>()
    for interceptors in [[any Interceptor](), [Stamping(seen: seen)]] {
      let fixture = Self.fixture {
        $0.credentials = provider
        $0.interceptors.calls = interceptors
      }
      provider.asked.append(())
      let before = provider.asked.count
      for try await _ in fixture.client.cachedThenFresh(Page()) {}
      #expect(fixture.transport.requests.map { $0.fields[.authorization] } == ["Bearer \(before + 1)"])
    }
  }

  @Test func `interceptor may send something else first`() async throws {
    let fixture = CacheFixture(change: { $0.interceptors.calls = [Asking()] }) { request, number in
      .text("\(request.url.path) \(number)")
    }
    var values: [String] = []
    for try await page in fixture.client.cachedThenFresh(Page()) { values.append(page.value) }
    #expect(values == ["/page 2"])
    for try await page in fixture.client.cachedThenFresh(Page()) { values.append(page.value) }
    #expect(values == ["/page 2", "/page 2", "/page 4"])
  }

  /// Adds a different number each time, like a time stamp.
  private struct Stamping: Interceptor {
    let seen: Recorded<String>
    let count = Recorded<Int>()

    func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
      seen.append("in")
      count.append(1)
      var request = request
      request.fields.replace(HTTPField("X-Stamp", "\(count.count)"))
      request.url = try HTTPURL(request.url.string + "?stamp=\(count.count)")
      do {
        let response = try await next(request)
        seen.append(response.origin.rawValue)
        return response
      } catch {
        seen.append("failed \((error as? APIError)?.stage.rawValue ?? "")")
        throw error
      }
    }
  }

  /// Sends a request for a token before each request.
  private struct Asking: Interceptor {
    func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
      var token = request
      token.url = try HTTPURL("https://api.example.com/token")
      _ = try? await next(token)
      return try await next(request)
    }
  }

  /// A different account at each call.
  private struct Shifting: CredentialProvider {
    let asked = Recorded<Void>()
    var account: String? {
      asked.append(())
      return "\(asked.count)"
    }
    func credential(for account: String?) async throws -> Credential? { account.map { .bearer($0) } }
  }
}

/// A page with hooks.
struct HookedPage: APIRequest {
  var path: Path { "/page" }
  var told = Recorded<String>()
  var cache: CachePolicy { .lifetime(.seconds(60)) }
  var delivery: Delivery<String> {
    Delivery(
      beforeCompletion: { [told] in told.append("before \($0.value ?? "-")") },
      afterCompletion: { [told] in told.append("after \($0.value ?? "-")") })
  }
  typealias Response = String
}
