import Errand
import ErrandTesting
import Testing

/// Which policy applies: that of the request, its family, the rule for the host, or the client.
struct PolicyPrecedenceTests {
  private static let family = RequestFamily("kept", cache: .lifetime(.seconds(20)))

  /// How many seconds a response is served, measured by repeating the request until it reaches the server.
  private static func seconds(
    _ page: Page, _ change: (inout ClientConfiguration) -> Void = { _ in }
  ) async throws -> Int {
    let fixture = CacheFixture(change: change) { _, number in .text("answer \(number)") }
    _ = try await fixture.client.send(page)
    for second in 0...5 {
      _ = try await fixture.client.send(page)
      if fixture.asked > 1 { return second * 10 }
      fixture.pass(10)
    }
    return .max
  }

  private static func rules(_ rules: HostCacheRule...) -> (inout ClientConfiguration) -> Void {
    { $0.cache.rules = rules }
  }

  @Test func `nothing is stored without a policy`() async throws {
    #expect(try await Self.seconds(Page(cache: .inherited)) == 0)
  }

  @Test func `client's policy has lowest precedence`() async throws {
    #expect(try await Self.seconds(Page(cache: .inherited)) { $0.cache.policy = .lifetime(.seconds(40)) } == 40)
    #expect(
      try await Self.seconds(Page(cache: .inherited)) {
        $0.cache.policy = .lifetime(.seconds(40))
        $0.cache.rules = [HostCacheRule("api.example.com", .lifetime(.seconds(30)))]
      } == 30)
  }

  @Test func `family overrides host rule`() async throws {
    let page = Page(cache: .inherited, family: Self.family)
    #expect(try await Self.seconds(page, Self.rules(HostCacheRule("api.example.com", .lifetime(.seconds(30))))) == 20)
  }

  /// A policy for many requests must not prevent a request that changes something from being sent.
  @Test(arguments: ["client", "rule", "family", "request"])
  func `writes do not inherit a lifetime`(_ place: String) async throws {
    let lifetime = CachePolicy.lifetime(.seconds(60))
    let fixture = CacheFixture(
      change: {
        if place == "client" { $0.cache.policy = lifetime }
        if place == "rule" { $0.cache.rules = [HostCacheRule("api.example.com", lifetime)] }
      }
    ) { _, number in .text("answer \(number)") }
    let family = place == "family" ? RequestFamily("kept", cache: lifetime) : nil
    let own = place == "request" ? lifetime : .inherited
    let read = Page(cache: own, family: family)
    let write = Page(method: .post, cache: own, family: family)
    for _ in 0..<2 { _ = try await fixture.client.send(read) }
    #expect(fixture.asked == 1)
    for _ in 0..<2 { _ = try await fixture.client.send(write) }
    #expect(fixture.asked == (place == "request" ? 2 : 3))
    _ = try await fixture.client.send(read)
    #expect(fixture.asked == (place == "request" ? 2 : 4), "a write invalidates its URL")
  }

  @Test func `request overrides its family`() async throws {
    #expect(try await Self.seconds(Page(cache: .lifetime(.seconds(10)), family: Self.family)) == 10)
    #expect(try await Self.seconds(Page(cache: .none, family: Self.family)) == 0)
  }

  @Test(arguments: [
    ("api.example.com", 30), ("API.Example.COM", 30), (".example.com", 30), (".com", 30), ("example.com", 0),
    ("api.example.co", 0), (".api.example.com", 0), ("pi.example.com", 0), ("*.example.com", 0), (".", 0), ("", 0),
    ("http://api.example.com:1", 30), ("api.example.com:8931", 30), ("https://.Example.com/v1", 30),
  ])
  func `host rules match hosts`(_ host: String, _ seconds: Int) async throws {
    let rule = HostCacheRule(host, .lifetime(.seconds(30)))
    #expect(try await Self.seconds(Page(cache: .inherited), Self.rules(rule)) == seconds)
  }

  @Test func `first matching rule applies`() async throws {
    let rules = Self.rules(
      HostCacheRule("cdn.example.com", .lifetime(.seconds(50))), HostCacheRule(".example.com", .none),
      HostCacheRule("api.example.com", .lifetime(.seconds(30))))
    #expect(try await Self.seconds(Page(cache: .inherited), rules) == 0)
  }

  @Test func `declared lifetime of a year holds`() async throws {
    let year = Duration.seconds(31_536_000)
    let fixture = CacheFixture { _, number in .text("answer \(number)") }
    _ = try await fixture.client.send(Page(cache: .lifetime(year)))
    fixture.pass(31_535_999)
    #expect(try await fixture.client.send(Page(cache: .lifetime(year))) == "answer 1")
    fixture.pass(1)
    #expect(try await fixture.client.send(Page(cache: .lifetime(year))) == "answer 2")
  }

  @Test func `models never read each other's entries`() async throws {
    let fixture = CacheFixture { _, number in .page("answer \(number)", ["Cache-Control": "max-age=60"]) }
    let pages = [Page.http(), Page(), Page(cache: .httpElse(.seconds(60)))]
    for (index, page) in pages.enumerated() {
      #expect(try await fixture.client.send(page) == "answer \(index + 1)")
    }
    for (index, page) in pages.enumerated() { #expect(await fixture.stored(page) == "answer \(index + 1)") }
  }

  @Test(arguments: [
    CachePolicy.http(version: 1), .httpElse(.seconds(60), version: 1), .lifetime(.seconds(60), version: 1),
  ])
  func `every model checks the version`(_ policy: CachePolicy) async throws {
    let fixture = CacheFixture { _, number in .page("answer \(number)", ["Cache-Control": "max-age=60"]) }
    let older: CachePolicy =
      switch policy {
      case .http(version: 1): .http
      case .httpElse(.seconds(60), version: 1): .httpElse(.seconds(60))
      default: .lifetime(.seconds(60))
      }
    _ = try await fixture.client.send(Page(cache: older))
    #expect(await fixture.miss(Page(cache: policy)) == .otherVersion)
    #expect(try await fixture.client.send(Page(cache: policy)) == "answer 2")
    #expect(await fixture.miss(Page(cache: older)) == .otherVersion, "one entry replaces the other")
  }
}
