import Errand
import ErrandCore
@testable import ErrandCache
import ErrandTesting
import Foundation
import Testing

/// Which stored responses the success of an unsafe method invalidates.
struct InvalidationTests {
  private static let policies: [CachePolicy] = [.http, .lifetime(.seconds(60))]

  private static func fixture(_ status: Int = 200, _ fields: HTTPFields = HTTPFields()) -> CacheFixture {
    CacheFixture { request, number in
      request.method == .get
        ? .page("answer \(number)", ["Cache-Control": "max-age=60", "Vary": "Accept-Language"])
        : ScriptedAnswer(status: status, fields: fields)
    }
  }

  @Test(arguments: [HTTPMethod.post, .put, .delete, .patch, "PURGE"], [200, 204, 302])
  func `success invalidates the URL`(_ method: HTTPMethod, _ status: Int) async throws {
    for policy in Self.policies {
      for own in [CachePolicy.none, .http] {
        let fixture = Self.fixture(status)
        let german = Page(cache: policy, headers: ["Accept-Language": "de"])
        for page in [german, Page(cache: policy), Page(name: "other", cache: policy)] {
          _ = try await fixture.client.send(page)
        }
        _ = try await fixture.client.send(Page(method: method, cache: own, statusRule: .any, redirects: .manual))
        #expect(await fixture.miss(Page(cache: policy)) == .missing)
        #expect(await fixture.miss(german) == .missing)
        #expect(await fixture.stored(Page(name: "other", cache: policy)) == "answer 3")
      }
    }
  }

  @Test(arguments: [400, 404, 500, 503]) func `failure invalidates nothing`(_ status: Int) async throws {
    let fixture = Self.fixture(status)
    _ = try await fixture.client.send(Page.http())
    _ = try await fixture.client.send(Page(method: .post, cache: .none, statusRule: .any))
    #expect(await fixture.stored(.http()) == "answer 1")
  }

  @Test(arguments: [HTTPMethod.get, .head, "OPTIONS"]) func `safe methods invalidate nothing`(_ method: HTTPMethod)
    async throws
  {
    let fixture = Self.fixture()
    _ = try await fixture.client.send(Page.http())
    _ = try await fixture.client.send(Page(method: method, cache: .none))
    #expect(await fixture.stored(.http()) == "answer 1")
  }

  @Test(arguments: [
    ("/v1/other", true), ("https://b.example.com/v1/other", true), ("https://api.example.com/other", true),
    ("/other", false), ("https://b.example.com/other", false),
  ])
  func `URLs that a fallback server names are invalidated`(_ location: String, _ isGone: Bool) async throws {
    let fixture = CacheFixture(change: { $0.servers.current.fallbackURLs = ["https://b.example.com/v1"] }) {
      request, _ in
      if request.method == .get { return .page("answer", ["Cache-Control": "max-age=60"]) }
      return request.url.host == "api.example.com"
        ? ScriptedAnswer(status: 503) : ScriptedAnswer(status: 201, fields: ["Location": location])
    }
    _ = try await fixture.client.send(Page.http("other"))
    _ = try await fixture.client.send(Page(method: .put, cache: .none))
    #expect(fixture.asked == 3)
    #expect(await fixture.stored(.http("other")) == (isGone ? nil : "answer"))
  }

  @Test(arguments: [HTTPFieldName.location, "Content-Location"])
  func `named URLs are invalidated`(_ name: HTTPFieldName) async throws {
    for (location, isGone) in [
      ("/other", true), ("https://api.example.com/other", true), ("https://evil.example.com/other", false),
      ("http://api.example.com/other", false),
    ] {
      let fixture = Self.fixture(201, HTTPFields([HTTPField(name, location)]))
      _ = try await fixture.client.send(Page.http("other"))
      _ = try await fixture.client.send(Page(method: .post, cache: .none))
      #expect(await fixture.miss(.http("other")) == (isGone ? .missing : nil), "\(location)")
    }
  }

  @Test func `declared lifetime does not invalidate`() async throws {
    let fixture = Self.fixture()
    _ = try await fixture.client.send(Page())
    _ = try await fixture.client.send(Page(method: .post))
    #expect(await fixture.stored() == "answer 1")
  }

  @Test(arguments: CacheReadMode.allCases.filter { !$0.usesOnlyCache })
  func `every mode invalidates`(_ mode: CacheReadMode) async throws {
    for policy in [CachePolicy.http, .none] {
      let fixture = Self.fixture()
      _ = try await fixture.client.send(Page.http())
      _ = try await fixture.client.send(Page(method: .delete, cache: policy), options: .cache(mode))
      #expect(await fixture.miss(.http()) == .missing)
    }
  }

  @Test func `redirected POST invalidates both URLs`() async throws {
    let fixture = CacheFixture { request, number in
      switch (request.method, request.url.path) {
      case (.get, _): .page("answer \(number)", ["Cache-Control": "max-age=60"])
      case (_, "/page"): .redirect(to: "/other", status: 307)
      default: .status(200)
      }
    }
    for name in ["page", "other"] { _ = try await fixture.client.send(Page.http(name)) }
    _ = try await fixture.client.send(Page(method: .post, cache: .none))
    #expect(await fixture.cache.entries().isEmpty)
  }

  @Test func `every folder is invalidated`() async throws {
    let stores = Recorded<String>()
    let cache = ResponseCache.inTwoFolders { stores.append($0.path) }
    let fixture = CacheFixture(change: { $0.cache.store = .own(cache) }) { request, number in
      request.method == .get ? .page("answer \(number)", ["Cache-Control": "max-age=60"]) : .status(200)
    }
    for policy in [CachePolicy.http, .none] {
      _ = try await fixture.client.send(Page.http())
      #expect(await fixture.stored(.http()) != nil)
      _ = try await fixture.client.send(Elsewhere(cache: policy))
      #expect(await fixture.miss(.http()) == .missing)
    }
    #expect(Set(stores.all) == ["/a", "/a/pages"])
  }

  /// A POST to the URL of the page whose own responses are stored in another folder.
  private struct Elsewhere: APIRequest {
    var path: Path { "/page" }
    var method: HTTPMethod { .post }
    let cache: CachePolicy
  }

  @Test(arguments: [CachePolicy.http, .none])
  func `excluded arguments do not prevent invalidation`(_ policy: CachePolicy) async throws {
    let rule = CacheKeyRule(leavingOut: ["time"])
    let fixture = Self.fixture()
    let page = Page(cache: .http.keyed(by: rule), arguments: ["time": 1, "id": 7])
    _ = try await fixture.client.send(page)
    let other = Page(
      method: .delete, cache: policy.keyed(by: rule), arguments: ["time": 2, "id": 7])
    _ = try await fixture.client.send(other)
    #expect(await fixture.miss(page) == .missing)
  }

  @Test(
    arguments: [
      (["Authorization": "Bearer a"], ["Authorization": "Bearer b"]), (["Cookie": "a=1"], ["Cookie": "a=2"]),
      (["Authorization": "Bearer a"], ["Authorization": "Bearer a", "X-CSRF-Token": .secret("1")]),
      ([:], ["X-CSRF-Token": .secret("1")]), (["X-Key": .secret("1")], [:]),
    ] as [(RequestHeaders, RequestHeaders)])
  func `other secret fields do not prevent invalidation`(_ get: RequestHeaders, _ post: RequestHeaders) async throws {
    for policy in Self.policies {
      let fixture = Self.fixture()
      let page = Page(cache: policy, headers: get)
      _ = try await fixture.client.send(page)
      #expect(await fixture.stored(page) == "answer 1")
      _ = try await fixture.client.send(Page(method: .post, cache: .none, headers: post))
      #expect(await fixture.miss(page) == .missing)
    }
  }

  @Test func `other accounts keep their responses`() async throws {
    let store = MemoryStore()
    let fixtures = ["ada", "eve", nil].map { name in
      CacheFixture(store: store, change: { $0.credentials = name.map { FixedCredential(.bearer($0), account: $0) } }) {
        _, number in .page("\(name ?? "nobody") \(number)", ["Cache-Control": "max-age=60"])
      }
    }
    for fixture in fixtures { _ = try await fixture.client.send(Page.http()) }
    _ = try await fixtures[0].client.send(Page(method: .post, cache: .none))
    #expect(await fixtures[0].stored(.http()) == nil)
    #expect(await fixtures[1].stored(.http()) == "eve 1")
    _ = try await fixtures[2].client.send(Page(method: .post, cache: .none))
    #expect(await fixtures[1].stored(.http()) == "eve 1")
  }

  @Test func `POST with Content-Location is stored for GET`() async throws {
    let fixture = CacheFixture { request, number in
      .page("answer \(number)", ["Cache-Control": "max-age=60", "Content-Location": "/page"])
    }
    _ = try await fixture.client.send(Page.http())
    _ = try await fixture.client.send(Page.http(method: .post))
    #expect(await fixture.stored(.http()) == "answer 2")
    #expect(try await fixture.client.send(Page.http(method: .post)) == "answer 3", "POST is always sent")
  }
}
