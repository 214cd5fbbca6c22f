import Errand
import ErrandCache
import ErrandCore
import ErrandJSON
import ErrandTesting
import Foundation
import Testing
import TestSupport

/// The stored response first, then the response of the server.
struct CachedThenFreshTests {
  private typealias Seen = (value: String, origin: ResponseOrigin)

  /// Iterates to the end of the sequence.
  private static func all(
    _ fixture: CacheFixture, _ page: Page = Page(), _ options: CallOptions = CallOptions()
  ) async throws -> [Seen] {
    var seen: [Seen] = []
    for try await page in fixture.client.cachedThenFresh(page, options: options) {
      seen.append((page.value, page.origin))
    }
    return seen
  }

  private static func expect(
    _ seen: [Seen], _ values: [String], _ origins: [ResponseOrigin], _ place: SourceLocation = #_sourceLocation
  ) {
    #expect(seen.map(\.value) == values, sourceLocation: place)
    #expect(seen.map(\.origin) == origins, sourceLocation: place)
  }

  @Test func `empty cache delivers once`() async throws {
    let fixture = CacheFixture { _, number in .text("answer \(number)") }
    Self.expect(try await Self.all(fixture), ["answer 1"], [.network])
    #expect(fixture.asked == 1)
    #expect(await fixture.stored() == "answer 1")
  }

  @Test(arguments: [0, 61, 1_000_000]) func `changed response delivers twice`(_ seconds: Int) async throws {
    let fixture = CacheFixture { _, number in .text("answer \(number)") }
    _ = try await fixture.client.send(Page())
    fixture.pass(seconds)
    let first: ResponseOrigin = seconds == 0 ? .cacheFresh : .cacheStale
    Self.expect(try await Self.all(fixture), ["answer 1", "answer 2"], [first, .network])
    #expect(fixture.asked == 2)
    #expect(await fixture.stored() == "answer 2")
  }

  @Test(arguments: [CachePolicy.http, .lifetime(.seconds(60))])
  func `304 delivers once`(_ policy: CachePolicy) async throws {
    let fixture = CacheFixture { request, _ in
      request.fields["If-None-Match"] == "\"a\""
        ? .status(304, fields: [.eTag: "\"a\""])
        : .page("body", [.eTag: "\"a\"", "Cache-Control": "max-age=60, immutable"])
    }
    _ = try await fixture.client.send(Page(cache: policy))
    Self.expect(try await Self.all(fixture, Page(cache: policy)), ["body"], [.cacheFresh])
    #expect(fixture.asked == 2, "the server is contacted in any case")
  }

  @Test func `304 after another redirect delivers twice`() async throws {
    let fixture = CacheFixture { request, number in
      switch request.url.path {
      case "/a": .redirect(to: number == 1 ? "/b" : "/c", status: 302).with(.cacheControl, "max-age=60")
      case "/c" where request.fields.contains("If-None-Match"): .status(304, fields: [.eTag: "\"c\""])
      default: .page(request.url.path, [.eTag: "\"c\"", "Cache-Control": "max-age=60"])
      }
    }
    for name in ["a", "c"] { _ = try await fixture.client.send(Page.http(name)) }
    Self.expect(try await Self.all(fixture, Page.http("a")), ["/b", "/c"], [.cacheFresh, .revalidated])
  }

  @Test func `304 for a newer response delivers twice`() async throws {
    let latch = Latch()
    let store = SlowStore(MemoryStore())
    let fixture = CacheFixture(store: store) { request, number in
      request.fields.contains("If-None-Match")
        ? .status(304, fields: [.eTag: "\"2\""]) : .page("answer \(number)", [.eTag: "\"\(number)\""])
    }
    _ = try await fixture.client.send(Page())
    store.holdNext(at: latch)
    async let seen = Self.all(fixture)
    await latch.reached()
    _ = try await fixture.client.send(Page(), options: .cache(.ignoringCache))
    latch.open()
    Self.expect(try await seen, ["answer 1", "answer 2"], [.cacheFresh, .revalidated])
  }

  @Test func `equal body delivers once`() async throws {
    let fixture = CacheFixture { _, _ in .text("body") }
    _ = try await fixture.client.send(Page())
    Self.expect(try await Self.all(fixture), ["body"], [.cacheFresh])
    #expect(fixture.asked == 2)
  }

  @Test func `other status delivers twice`() async throws {
    let fixture = CacheFixture { _, number in .text("body", status: 199 + number) }
    _ = try await fixture.client.send(Page())
    #expect(try await Self.all(fixture).count == 2)
  }

  @Test func `failure follows the stored response`() async throws {
    let fixture = CacheFixture { _, number in number == 1 ? .text("body") : .failure(.offline) }
    _ = try await fixture.client.send(Page())
    var seen: [String] = []
    do {
      for try await page in fixture.client.cachedThenFresh(Page()) { seen.append(page.value) }
      Issue.record("the second delivery succeeded")
    } catch {
      #expect(error.code.rawValue == "offline")
    }
    #expect(seen == ["body"])
    #expect(await fixture.stored() == "body")
  }

  @Test func `failure without stored response is thrown`() async throws {
    let fixture = CacheFixture { _, _ in .failure(.offline) }
    await #expect(throws: APIError.self) { _ = try await Self.all(fixture) }
    #expect(fixture.asked == 1)
  }

  @Test func `cancelled task throws no second error`() async throws {
    let fixture = CacheFixture { _, _ in .failure(.offline) }
    let reading = Task { () async throws -> Bool in
      var pages = fixture.client.cachedThenFresh(Page()).makeAsyncIterator()
      do {
        _ = try await pages.next()
        return false
      } catch {
        withUnsafeCurrentTask { $0?.cancel() }
        return try await pages.next() == nil
      }
    }
    #expect(try await reading.value)
  }

  @Test func `rejected entry delivers once`() async throws {
    let fixture = CacheFixture { _, number in number == 1 ? .text("old") : .text("new") }
    _ = try await fixture.client.send(PickyPage())
    var seen: [Seen] = []
    for try await page in fixture.client.cachedThenFresh(PickyPage(refuses: "old")) {
      seen.append((page.value, page.origin))
    }
    Self.expect(seen, ["new"], [.network])
    #expect(fixture.asked == 2)
  }

  @Test func `rejected status delivers once`() async throws {
    let fixture = CacheFixture { _, number in .text("answer \(number)", status: number == 1 ? 203 : 200) }
    _ = try await fixture.client.send(Page())
    Self.expect(try await Self.all(fixture, Page(statusRule: .range(200...200))), ["answer 2"], [.network])
  }

  @Test(arguments: [CacheReadMode.ignoringCache, .withoutCache])
  func `call without cache read delivers once`(_ mode: CacheReadMode) async throws {
    let fixture = CacheFixture { _, number in .text("answer \(number)") }
    _ = try await fixture.client.send(Page())
    Self.expect(try await Self.all(fixture, Page(), .cache(mode)), ["answer 2"], [.network])
    #expect(await fixture.stored() == (mode == .ignoringCache ? "answer 2" : "answer 1"))
  }

  @Test func `cache only delivers once, without the server`() async throws {
    let fixture = CacheFixture { _, number in .text("answer \(number)") }
    _ = try await fixture.client.send(Page())
    Self.expect(try await Self.all(fixture, Page(), .cache(.cacheOnly)), ["answer 1"], [.cacheFresh])
    Self.expect(
      try await Self.all(fixture, Page(headers: ["Cache-Control": "only-if-cached"])), ["answer 1"], [.cacheFresh])
    #expect(fixture.asked == 1)
  }

  @Test func `offline delivers the stored response once`() async throws {
    let fixture = CacheFixture { _, number in number == 1 ? .text("body") : .failure(.offline) }
    _ = try await fixture.client.send(Page())
    Self.expect(try await Self.all(fixture, Page(), .cache(.networkElseCached)), ["body"], [.cacheFresh])
    #expect(fixture.asked == 2)
  }

  @Test func `call without policy delivers once`() async throws {
    let fixture = CacheFixture { _, number in .text("answer \(number)") }
    for number in 1...2 {
      Self.expect(try await Self.all(fixture, Page(cache: .none)), ["answer \(number)"], [.network])
    }
  }

  @Test func `caller's condition is sent unchanged`() async throws {
    let fixture = CacheFixture { _, number in
      .page("answer \(number)", [.eTag: "\"\(number)\"", "Cache-Control": "max-age=60"])
    }
    _ = try await fixture.client.send(Page.http())
    _ = try await Self.all(fixture, .http(headers: ["If-None-Match": "\"0\""]))
    #expect(fixture.transport.requests[1].fields.values(of: "If-None-Match") == ["\"0\""])
  }

  // MARK: - Ending early

  private static func stalling(_ latch: Latch) -> CacheFixture {
    CacheFixture { _, number in
      if number > 1 { try await latch.wait() }
      return .text("answer \(number)")
    }
  }

  @Test func `leaving the loop cancels the call`() async throws {
    let latch = Latch()
    let fixture = Self.stalling(latch)
    _ = try await fixture.client.send(Page())
    let endings = Recorded<Outcome<Void>>()
    let ended = Latch()
    let options = CallOptions(accessories: [
      Counting {
        endings.append($0); ended.open()
      }
    ])
    for try await _ in fixture.client.cachedThenFresh(Page(), options: options) {
      await latch.reached()
      break
    }
    try await ended.wait()
    #expect(endings.all.map { $0.error?.stage } == [.cancelled])
    #expect(await fixture.stored() == "answer 1")
    #expect(await eventually { fixture.client.running.isEmpty })
  }

  @Test func `task cancellation is thrown`() async throws {
    let latch = Latch()
    let fixture = Self.stalling(latch)
    _ = try await fixture.client.send(Page())
    let task = Task {
      do {
        for try await _ in fixture.client.cachedThenFresh(Page()) {}
        return APIError.Stage?.none
      } catch {
        return (error as? APIError)?.stage
      }
    }
    await latch.reached()
    task.cancel()
    #expect(await task.value == .cancelled)
  }

  @Test func `cancellation by tag is thrown`() async throws {
    let latch = Latch()
    let fixture = Self.stalling(latch)
    _ = try await fixture.client.send(Page())
    var seen: [String] = []
    do {
      for try await page in fixture.client.cachedThenFresh(Page(), options: .tag("feed")) {
        seen.append(page.value)
        await latch.reached()
        fixture.client.cancel(tag: "feed")
      }
      Issue.record("the call succeeded")
    } catch {
      #expect(error.stage == .cancelled)
    }
    #expect(seen == ["answer 1"])
  }

  @Test func `deadline covers both deliveries`() async throws {
    let latch = Latch()
    let fixture = Self.stalling(latch)
    _ = try await fixture.client.send(Page())
    do {
      for try await _ in fixture.client.cachedThenFresh(Page()) {
        await latch.reached()
        fixture.clock.advance(by: .seconds(120))
      }
      Issue.record("the call succeeded")
    } catch {
      #expect(error.stage == .deadline)
    }
  }
}

/// Records how a call ended, and counts the notifications.
final class Counting: Accessory {
  let starts = Recorded<UInt64>()
  let wills = Recorded<UInt64>()
  let dids = Recorded<UInt64>()
  /// Opened after the last notification: a sequence and a callback end before it.
  let ended = Latch()
  private let onEnd: @Sendable (Outcome<Void>) -> Void

  init(_ onEnd: @escaping @Sendable (Outcome<Void>) -> Void = { _ in }) { self.onEnd = onEnd }

  func willStart(_ call: CallInfo) { starts.append(call.id) }
  func willStop(_ call: CallInfo, _ outcome: Outcome<Void>) { wills.append(call.id) }
  func didStop(_ call: CallInfo, _ outcome: Outcome<Void>) {
    dids.append(call.id)
    onEnd(outcome)
    ended.open()
  }

  var counts: [Int] { [starts.count, wills.count, dids.count] }
}
