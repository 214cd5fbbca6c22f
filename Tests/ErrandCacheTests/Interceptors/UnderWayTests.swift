import ErrandSupport
import Errand
@testable import ErrandCache
import ErrandTesting
import Foundation
import TestSupport
import Testing

/// Removals during an exchange: the exchange must not store an outdated response.
struct UnderWayTests {
  private static let tag = "feed"

  /// A server that holds every GET from the given number on.
  private static func fixture(_ latch: Latch, from first: Int = 1) -> CacheFixture {
    CacheFixture(change: { $0.credentials = FixedCredential(.bearer("ada"), account: "ada") }) { request, number in
      if request.method == .get, number >= first { try await latch.wait() }
      return .page("answer \(number)", ["Cache-Control": "max-age=60", .eTag: "\"a\""])
    }
  }

  private static let removals: [(name: String, remove: @Sendable (ResponseCache) async -> Void, bars: Bool)] = [
    ("all", { $0.removeAll() }, true),
    ("host", { $0.removeAll(host: "api.example.com") }, true),
    ("other host", { $0.removeAll(host: "example.com") }, false),
    ("tag", { $0.removeAll(tag: tag) }, true),
    ("other tag", { $0.removeAll(tag: "other") }, false),
    ("account", { await $0.removeAll(account: "ada") }, true),
    ("other account", { await $0.removeAll(account: "eve") }, false),
    ("older", { $0.removeAll(olderThan: .distantFuture) }, false),
  ]

  @Test(arguments: Self.removals.map(\.name), [CachePolicy.http, .lifetime(.seconds(60))])
  func `removal prevents storing in-flight responses`(_ name: String, _ policy: CachePolicy) async throws {
    let removal = try #require(Self.removals.first { $0.name == name })
    let latch = Latch()
    let fixture = Self.fixture(latch)
    let client = fixture.client
    async let value = client.send(Page(cache: policy), options: .tag(Self.tag))
    await latch.reached()
    await removal.remove(fixture.cache)
    latch.open()
    #expect(try await value == "answer 1", "the call still receives its response")
    #expect(await fixture.stored(Page(cache: policy)) == (removal.bars ? nil : "answer 1"))
    #expect(try await client.send(Page(cache: policy)) == (removal.bars ? "answer 2" : "answer 1"))
    #expect(await fixture.stored(Page(cache: policy)) != nil, "the next response is stored")
  }

  @Test func `key removal affects its key only`() async throws {
    let latch = Latch()
    let fixture = Self.fixture(latch, from: 3)
    for name in ["a", "b"] { _ = try await fixture.client.send(Page(name: name)) }
    let listed = await fixture.cache.entries()
    let key = try #require(listed.first { $0.head.label.url.hasSuffix("/a") }?.key)
    let client = fixture.client
    async let first = client.send(Page(name: "a"), options: .cache(.ignoringCache))
    async let second = client.send(Page(name: "b"), options: .cache(.ignoringCache))
    await latch.reached(2)
    fixture.cache.remove(.key(key))
    latch.open()
    let values = try await [first, second]
    #expect(await fixture.miss(Page(name: "a")) == .missing)
    #expect(await fixture.stored(Page(name: "b")) == values[1])
  }

  @Test(arguments: [CachePolicy.http, .lifetime(.seconds(60))])
  func `POST success prevents storing older GET`(_ policy: CachePolicy) async throws {
    let latch = Latch()
    let fixture = Self.fixture(latch)
    let client = fixture.client
    async let value = client.send(Page(cache: policy))
    await latch.reached()
    _ = try await client.send(Page(method: .post, cache: .none))
    latch.open()
    #expect(try await value == "answer 1")
    #expect(await fixture.miss(Page(cache: policy)) == .missing)
  }

  @Test(arguments: [HTTPMethod.put, .post]) func `response for another request precedes older GET`(
    _ method: HTTPMethod
  ) async throws {
    let latch = Latch()
    let fixture = Self.fixture(latch)
    let client = fixture.client
    async let value = client.send(Page())
    await latch.reached()
    _ = try await client.send(Page(name: "profile", method: method, cache: .none.stored(as: [Page()])))
    latch.open()
    #expect(try await value == "answer 1", "the call still receives its response")
    #expect(await fixture.stored() == "answer 2")
  }

  @Test func `failed POST prevents nothing`() async throws {
    let latch = Latch()
    let fixture = CacheFixture { request, number in
      if request.method == .post { return .status(409) }
      try await latch.wait()
      return .text("answer \(number)")
    }
    let client = fixture.client
    async let value = client.send(Page())
    await latch.reached()
    _ = await client.outcome(of: Page(method: .post, cache: .none))
    latch.open()
    _ = try await value
    #expect(await fixture.stored() == "answer 1")
  }

  @Test func `304 does not renew removed entries`() async throws {
    let latch = Latch()
    let fixture = CacheFixture { request, _ in
      guard request.fields.contains("If-None-Match") else { return .page("body", [.eTag: "\"a\""]) }
      try await latch.wait()
      return .status(304, fields: [.eTag: "\"a\""])
    }
    _ = try await fixture.client.send(Page())
    let client = fixture.client
    async let answer = client.response(Page(), options: .cache(.revalidating))
    await latch.reached()
    fixture.cache.removeAll()
    latch.open()
    #expect(try await answer.value == "body", "the call still has the entry")
    #expect(await fixture.miss() == .missing)
  }

  private typealias Removing = @Sendable (CacheFixture) async throws -> Void

  /// Removals of the page that is refreshed, and of others.
  private static let refreshRemovals: [(name: String, remove: Removing, stops: Bool)] = [
    ("request", { try await $0.client.removeCached(Page.http()) }, true),
    ("host", { $0.cache.removeAll(host: "api.example.com") }, true),
    ("tag", { $0.cache.removeAll(tag: "feed") }, true),
    ("age", { $0.cache.removeAll(olderThan: Date(timeIntervalSince1970: 1_700_000_030)) }, true),
    ("POST", { _ = try await $0.client.send(Page.http(method: .post)) }, true),
    ("POST without cache", { _ = try await $0.client.send(Page(method: .post, cache: .none)) }, true),
    ("other request", { try await $0.client.removeCached(Page.http("other")) }, false),
    ("other host", { $0.cache.removeAll(host: "example.com") }, false),
    ("other tag", { $0.cache.removeAll(tag: "other") }, false),
    ("earlier age", { $0.cache.removeAll(olderThan: Date(timeIntervalSince1970: 1_600_000_000)) }, false),
    ("other POST", { _ = try await $0.client.send(Page.http("other", method: .post)) }, false),
  ]

  @Test(arguments: Self.refreshRemovals.map(\.name))
  func `removing an entry stops its refresh`(_ name: String) async throws {
    let removal = try #require(Self.refreshRemovals.first { $0.name == name })
    let latch = Latch()
    let fixture = CacheFixture { request, number in
      if request.method == .get, number > 1 { try await latch.wait() }
      return .page("answer \(number)", ["Cache-Control": "max-age=60, stale-while-revalidate=600"])
    }
    _ = try await fixture.client.send(Page.http(), options: .tag("feed"))
    fixture.pass(61)
    _ = try await fixture.client.send(Page.http())
    await latch.reached()
    try await removal.remove(fixture)
    if !removal.stops { latch.open() }
    #expect(await eventually { fixture.cache.refreshes.isEmpty })
    #expect(await fixture.stored(.http()) == (removal.stops ? nil : "answer 2"))
  }

  @Test func `cancelled transfer is not stored`() async throws {
    let latch = Latch()
    let fixture = Self.fixture(latch)
    let client = fixture.client
    async let outcome = client.outcome(of: Page())
    await latch.reached()
    client.cancelAll()
    // A response that arrives before the cancellation could still be shared, so it would be stored.
    #expect(await outcome.error?.stage == .cancelled)
    latch.open()
    await fixture.exchangesEnded()
    #expect(await fixture.cache.entries().isEmpty)
  }

  /// Holds the response of an exchange, even if no call waits for it any more.
  private struct Lingering: Interceptor {
    let latch: Latch

    func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
      let response = try await next(request)
      await latch.waitStubbornly()
      return response
    }
  }

  @Test func `removal affects abandoned exchanges`() async throws {
    let latch = Latch()
    let fixture = CacheFixture(change: {
      $0.credentials = FixedCredential(.bearer("ada"), account: "ada")
      $0.interceptors.exchanges = [Lingering(latch: latch)]
    }) { _, _ in .text("body") }
    let client = fixture.client
    async let outcome = client.outcome(of: Page())
    await latch.reached()
    client.cancelAll()
    #expect(await outcome.error?.stage == .cancelled)
    await fixture.cache.removeAll(account: "ada")
    latch.open()
    await fixture.exchangesEnded()
    #expect(await fixture.cache.entries().isEmpty)
    #expect(fixture.cache.generations.withLock { $0.remembered } == 0)
  }

  @Test func `expired call stores nothing`() async throws {
    let latch = Latch()
    let fixture = Self.fixture(latch)
    let client = fixture.client
    async let outcome = client.outcome(of: Page())
    await latch.reached()
    fixture.clock.advance(by: .seconds(120))
    #expect(await outcome.error?.stage == .deadline)
    latch.open()
    await fixture.exchangesEnded()
    #expect(await fixture.cache.entries().isEmpty)
  }

  @Test func `removal is forgotten afterwards`() async throws {
    let latch = Latch()
    let fixture = Self.fixture(latch)
    let client = fixture.client
    async let value = client.send(Page())
    await latch.reached()
    fixture.cache.removeAll()
    #expect(fixture.cache.generations.withLock { $0.remembered } == 1)
    latch.open()
    _ = try await value
    #expect(fixture.cache.generations.withLock { $0.remembered } == 0)
  }
}
