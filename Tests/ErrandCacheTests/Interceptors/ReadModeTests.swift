import Errand
import ErrandCore
import ErrandTesting
import Foundation
import Testing

/// Every read mode with every state of the stored response.
struct ReadModeTests {
  /// The state of the stored response before the call.
  enum Stored: CaseIterable {
    case nothing, fresh, expired, otherVersion, otherAppVersion, otherAccount, damaged, refused
  }

  /// The outcome of the call.
  enum End: Equatable { case old, new, miss(CacheMiss), refused, unreachable }

  private static let asDeclared: [Stored: End] = [
    .nothing: .new, .fresh: .old, .expired: .new, .otherVersion: .new, .otherAppVersion: .new, .otherAccount: .new,
    .damaged: .new, .refused: .refused,
  ]
  private static let cachedElseLoad: [Stored: End] = [
    .nothing: .new, .fresh: .old, .expired: .old, .otherVersion: .new, .otherAppVersion: .new, .otherAccount: .new,
    .damaged: .new, .refused: .refused,
  ]
  private static let cacheOnly: [Stored: End] = [
    .nothing: .miss(.missing), .fresh: .old, .expired: .old, .otherVersion: .miss(.otherVersion),
    .otherAppVersion: .miss(.otherAppVersion), .otherAccount: .miss(.otherAccount), .damaged: .miss(.damaged),
    .refused: .refused,
  ]
  private static let offline: [Stored: End] = [
    .nothing: .unreachable, .fresh: .old, .expired: .old, .otherVersion: .unreachable,
    .otherAppVersion: .unreachable, .otherAccount: .unreachable, .damaged: .unreachable, .refused: .refused,
  ]

  private static func expected(_ mode: CacheReadMode, _ stored: Stored) -> End? {
    switch mode {
    case .asDeclared: asDeclared[stored]
    case .cachedElseLoad: cachedElseLoad[stored]
    case .cacheOnly: stored == .expired ? .miss(.expired) : cacheOnly[stored]
    case .cacheOnlyAtAnyAge: cacheOnly[stored]
    case .ignoringCache, .withoutCache, .revalidating, .networkElseCached: .new
    }
  }

  private static func fixture(isOffline: Bool = false, hasOld: Bool = true) -> CacheFixture {
    CacheFixture { _, number in
      if number == 1, hasOld { return .text("old", status: 203) }
      return isOffline ? .failure(.offline) : .text("new")
    }
  }

  /// Creates the state, and returns the request to send.
  private static func prepare(_ stored: Stored, _ fixture: CacheFixture) async throws -> PickyPage {
    fixture.client.configure { $0.credentials = FixedCredential(.bearer("ada"), account: "ada") }
    if stored != .nothing { _ = try await fixture.client.send(PickyPage()) }
    switch stored {
    case .nothing, .fresh: return PickyPage()
    case .expired: fixture.pass(61)
    case .otherVersion: return PickyPage(version: 2)
    case .otherAppVersion: fixture.client.configure { $0.cache.appVersion = "2" }
    case .otherAccount: fixture.client.configure { $0.credentials = FixedCredential(.bearer("eve"), account: "eve") }
    case .damaged: return PickyPage(refuses: "old")
    case .refused: return PickyPage(statusRule: .range(200...200))
    }
    return PickyPage()
  }

  private static func end(_ outcome: Outcome<String>) -> End? {
    if let value = outcome.value { return value == "old" ? .old : .new }
    if let miss = outcome.error?.cacheMiss { return .miss(miss) }
    if outcome.error?.code == .status { return .refused }
    return outcome.error?.stage == .transport ? .unreachable : nil
  }

  @Test(arguments: CacheReadMode.allCases, Stored.allCases)
  func `mode handles each stored state`(_ mode: CacheReadMode, _ stored: Stored) async throws {
    let fixture = Self.fixture(hasOld: stored != .nothing)
    let request = try await Self.prepare(stored, fixture)
    let before = fixture.asked
    let outcome = await fixture.client.outcome(of: request, options: .cache(mode))
    let expected = try #require(Self.expected(mode, stored))
    #expect(Self.end(outcome) == expected)
    #expect(fixture.asked - before == (expected == .new ? 1 : 0))
    if expected == .new { #expect(outcome.origin == .network) }
    if expected == .old { #expect(outcome.origin == (stored == .fresh ? .cacheFresh : .cacheStale)) }
  }

  @Test(arguments: Stored.allCases)
  func `offline serves stored responses`(_ stored: Stored) async throws {
    let fixture = Self.fixture(isOffline: true, hasOld: stored != .nothing)
    let request = try await Self.prepare(stored, fixture)
    let outcome = await fixture.client.outcome(of: request, options: .cache(.networkElseCached))
    #expect(Self.end(outcome) == Self.offline[stored])
    #expect(outcome.metrics.attempts >= 1, "the server is contacted first")
  }

  @Test func `ignoring the cache adds no-cache`() async throws {
    let fixture = CacheFixture { _, number in
      .page("answer \(number)", ["Cache-Control": "max-age=60", "Vary": "Cache-Control"])
    }
    let own = Page.http(headers: ["Cache-Control": .text("no-transform")])
    for page in [Page.http(), own] {
      _ = try await fixture.client.response(page, options: .cache(.ignoringCache))
      #expect(await fixture.client.outcome(of: page, options: .cache(.cacheOnly)).error == nil)
    }
    #expect(fixture.transport.requests.map { $0.fields[.cacheControl] } == ["no-cache", "no-transform"])
  }

  @Test(arguments: [CacheReadMode.ignoringCache, .revalidating, .networkElseCached, .asDeclared], [0, 61])
  func `server response is stored`(_ mode: CacheReadMode, _ seconds: Int) async throws {
    guard mode != .asDeclared || seconds > 0 else { return }
    let fixture = Self.fixture()
    _ = try await fixture.client.send(Page())
    fixture.pass(seconds)
    _ = try await fixture.client.send(Page(), options: .cache(mode))
    #expect(await fixture.stored() == "new")
  }

  @Test func `disabled cache stores nothing`() async throws {
    let fixture = Self.fixture()
    let first = try await fixture.client.response(Page(), options: .cache(.withoutCache))
    #expect(first.metrics.cache == nil)
    #expect(await fixture.miss() == .missing)
    _ = try await fixture.client.send(Page())
    #expect(try await fixture.client.send(Page(), options: .cache(.withoutCache)) == "new")
    #expect(await fixture.stored() == "new")
  }

  @Test(arguments: CacheReadMode.allCases, [true, false])
  func `disabled policy stores nothing`(_ mode: CacheReadMode, _ isOff: Bool) async throws {
    let fixture = CacheFixture(change: { if isOff { $0.cache.store = .off } }) { _, number in
      .text("answer \(number)")
    }
    let page = Page(cache: isOff ? .lifetime(.seconds(60)) : .none)
    for number in 1...2 {
      let outcome = await fixture.client.outcome(of: page, options: .cache(mode))
      if mode.usesOnlyCache {
        #expect(outcome.error?.cacheMiss == .disabled && fixture.asked == 0)
        #expect(outcome.error?.stage == .cache)
      } else {
        #expect(outcome.value == "answer \(number)" && outcome.origin == .network)
      }
    }
    #expect(await fixture.cache.entries().isEmpty)
  }

  private struct NullSink: BodySink {
    func begin(_ head: ResponseHead, flow: BodyFlow) -> BodyDisposition { .sink }
    func write(_ piece: UnsafeRawBufferPointer) -> Bool { true }
    func end() {}
  }

  private struct PageFile: APIRequest {
    var path: Path { "/page" }
    var download: Download? { .to(URL(filePath: "/nowhere/page")) }
    typealias Response = DownloadedFile
  }

  @Test(arguments: CacheReadMode.allCases.filter(\.usesOnlyCache))
  func `cache only fails with a sink`(_ mode: CacheReadMode) async {
    let fixture = CacheFixture { _, _ in .text("body") }
    let (client, options) = (fixture.client, CallOptions(bodySink: NullSink(), cache: mode))
    #expect(await client.outcome(of: Page(), options: options).error?.cacheMiss == .disabled)
    #expect(await client.outcome(of: PageFile(), options: .cache(mode)).error?.cacheMiss == .disabled)
    do {
      _ = try await client.stream(Page(), options: .cache(mode))
      Issue.record("a request was sent")
    } catch {
      #expect(error.cacheMiss == .disabled)
    }
    #expect(fixture.asked == 0)
  }

  @Test func `revalidating adds max-age=0`() async throws {
    let fixture = Self.fixture()
    _ = try await fixture.client.send(Page(), options: .cache(.revalidating))
    _ = try await fixture.client.send(Page(headers: ["Cache-Control": "no-transform"]), options: .cache(.revalidating))
    #expect(fixture.transport.requests.map { $0.fields[.cacheControl] } == ["max-age=0", "no-transform"])
  }

  @Test(arguments: [CacheReadMode.asDeclared, .cachedElseLoad])
  func `undecodable entry is removed`(_ mode: CacheReadMode) async throws {
    let fixture = Self.fixture()
    _ = try await fixture.client.send(Page())
    let error = await fixture.client.outcome(of: PickyPage(refuses: "old"), options: .cache(.cacheOnly)).error
    #expect(error?.cacheMiss == .damaged)
    #expect(await fixture.cache.entries().isEmpty)
    #expect(try await fixture.client.send(PickyPage(refuses: "old"), options: .cache(mode)) == "new")
    #expect(fixture.asked == 2)
  }

  @Test func `undecodable server response fails once`() async throws {
    let fixture = CacheFixture { _, _ in .text("old") }
    _ = try await fixture.client.send(PickyPage())
    let error = await fixture.client.outcome(of: PickyPage(refuses: "old")).error
    #expect(error?.stage == .decode && fixture.asked == 2)
  }
}

/// The page of ``Page``, with a decoder that rejects one text.
struct PickyPage: APIRequest {
  var path: Path { "/page" }
  var version = 0
  var refuses: String?
  var statusRule: StatusRule = .inherited
  var validation: ResponseValidation { ResponseValidation(status: statusRule) }
  var cache: CachePolicy { .lifetime(.seconds(60), version: version) }
  var decoder: ResponseDecoder<String> {
    ResponseDecoder("picky") { [refuses] body, _ in
      let text = String(decoding: body, as: UTF8.self)
      if text == refuses { throw Refusal() }
      return text
    }
  }
  typealias Response = String

  struct Refusal: Error {}
}
