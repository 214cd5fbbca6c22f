import Errand
import ErrandCache
import ErrandTesting
import Testing

/// Responses are separated by their owners: two owners never share responses, and never evict each other's.
struct IdentityTests {
  /// A way in which a request identifies its user.
  enum Identity: CaseIterable {
    case provider, authorization, own, fixed, cookie, secretField, clientSecretField, proxyAuthorization
    case ownBesideAccount, cookieBesideAccount, authorizationBesideAccount, secretFieldBesideAccount

    var isBesideAccount: Bool {
      switch self {
      case .provider, .authorization, .own, .fixed, .cookie, .secretField, .clientSecretField, .proxyAuthorization:
        false
      case .ownBesideAccount, .cookieBesideAccount, .authorizationBesideAccount, .secretFieldBesideAccount: true
      }
    }

    func configure(_ name: String, _ configuration: inout ClientConfiguration) {
      switch self {
      case .provider: configuration.credentials = FixedCredential(.bearer("same"), account: name)
      case .fixed: configuration.credentials = FixedCredential(.bearer(name))
      case .clientSecretField: configuration.headers = ["X-Api-Key": .secret(name)]
      case .authorization, .own, .cookie, .secretField, .proxyAuthorization: break
      case .ownBesideAccount, .cookieBesideAccount, .authorizationBesideAccount, .secretFieldBesideAccount:
        configuration.credentials = FixedCredential(.bearer("shared"), account: "shared")
      }
    }

    func page(_ name: String, _ policy: CachePolicy) -> Page {
      var page = Page(cache: policy)
      switch self {
      case .provider, .fixed, .clientSecretField: break
      case .secretField, .secretFieldBesideAccount: page.headers = ["X-Api-Key": .secret(name)]
      case .proxyAuthorization: page.headers = ["Proxy-Authorization": .text("Basic \(name)")]
      case .authorization, .authorizationBesideAccount: page.headers = ["Authorization": .text("Bearer \(name)")]
      case .own, .ownBesideAccount: page.credential = .bearer(name)
      case .cookie, .cookieBesideAccount: page.headers = ["Cookie": .text("session=\(name)")]
      }
      return page
    }
  }

  private static let policies: [CachePolicy] = [.lifetime(.seconds(60)), .http, .httpElse(.seconds(60))]

  /// One client for each name over a shared store, and the requests of these names.
  private static func clients(
    _ identity: Identity, _ names: [String], _ policy: CachePolicy
  ) -> (fixtures: [CacheFixture], pages: [Page]) {
    let store = MemoryStore()
    let fixtures = names.map { name in
      CacheFixture(store: store, change: { identity.configure(name, &$0) }) { _, number in
        .page("\(name) \(number)", ["Cache-Control": "max-age=60"])
      }
    }
    return (fixtures, names.map { identity.page($0, policy) })
  }

  @Test(arguments: Identity.allCases, Self.policies)
  func `identities never share or evict`(_ identity: Identity, _ policy: CachePolicy) async throws {
    let names = ["ada", "eve"]
    let (fixtures, pages) = Self.clients(identity, names, policy)
    for _ in 1...2 {
      for index in names.indices {
        #expect(try await fixtures[index].client.send(pages[index]) == "\(names[index]) 1")
      }
    }
    #expect(fixtures.allSatisfy { $0.asked == 1 })
    #expect(await fixtures[0].cache.entries().count == 2)
  }

  @Test(arguments: Identity.allCases)
  func `anonymous call shares with no identity`(_ identity: Identity) async throws {
    let (fixtures, pages) = Self.clients(identity, ["ada"], .lifetime(.seconds(60)))
    let fixture = try #require(fixtures.first)
    _ = try await fixture.client.send(pages[0])
    fixture.client.configure {
      $0.credentials = nil
      $0.headers = RequestHeaders()
    }
    #expect(await fixture.miss() == .otherAccount)
    #expect(try await fixture.client.send(Page()) == "ada 2")
  }

  @Test(arguments: StoreKind.all) func `accounts with different bytes never share`(_ kind: StoreKind) async throws {
    try await kind.with { store in
      let names = ["ad\u{e1}", "ada\u{301}"]
      let fixtures = names.map { name in
        CacheFixture(store: store, change: { $0.credentials = FixedCredential(.bearer("same"), account: name) }) {
          _, number in .text("\(Array(name.utf8)) \(number)")
        }
      }
      for _ in 1...2 {
        for (name, fixture) in zip(names, fixtures) {
          let text = await fixture.client.outcome(of: Page()).value
          #expect(text == "\(Array(name.utf8)) 1")
        }
      }
      await fixtures[0].cache.removeAll(account: names[0])
      #expect(await fixtures[0].stored() == nil)
      #expect(await fixtures[1].stored() != nil)
    }
  }

  @Test func `call without credential is anonymous`() async throws {
    let fixture = CacheFixture(change: { $0.credentials = FixedCredential(.bearer("ada"), account: "ada") }) {
      request, _ in .text(request.fields[.authorization] ?? "nobody")
    }
    var page = Page()
    page.credential = .none
    #expect(try await fixture.client.send(Page()) == "Bearer ada")
    #expect(try await fixture.client.send(page) == "nobody")
    #expect(try await fixture.client.send(Page()) == "Bearer ada")
    #expect(try await fixture.client.send(page) == "nobody")
    #expect(fixture.asked == 2)
  }

  @Test func `other account's entry is only reported`() async throws {
    let (fixtures, pages) = Self.clients(.provider, ["ada", "eve"], .lifetime(.seconds(60)))
    _ = try await fixtures[0].client.send(pages[0])
    #expect(await fixtures[1].miss(pages[1]) == .otherAccount)
    #expect(await fixtures[1].miss(Page(name: "other")) == .missing)
  }

  /// Something that is part of the cache key and changes while one account is logged in.
  enum Change: CaseIterable {
    case cookie, firstCookie, lastCookie, secretField, clientSecretField, credential

    /// Makes the state before the change (step 0) or after it (step 1), and returns the request to send.
    func make(_ step: Int, _ path: RequestPath, _ jar: CookieJar, _ client: APIClient) throws -> Asset {
      var asset = Asset(path: path)
      jar.removeAll()
      switch self {
      case .cookie: try set("\(step)", jar)
      case .firstCookie: if step == 1 { try set("1", jar) }
      case .lastCookie: if step == 0 { try set("1", jar) }
      case .secretField: asset.headers = ["X-Key": .secret("\(step)")]
      case .clientSecretField: client.configure { $0.headers = ["X-Key": .secret("\(step)")] }
      case .credential: if step == 0 { asset.credential = .none }
      }
      return asset
    }

    private func set(_ value: String, _ jar: CookieJar) throws {
      for host in ["api.example.com", "cdn.example.net"] { jar.set(try Cookie("sid", value, host: host)) }
    }
  }

  /// A text at any URL, cached for a minute.
  struct Asset: APIRequest {
    typealias Response = String
    var path: Path
    var headers = RequestHeaders()
    var credential = RequestCredential.inherited
    var cache: CachePolicy { .lifetime(.seconds(60)) }
  }

  private static func account(_ name: String) -> FixedCredential { FixedCredential(.bearer(name), account: name) }

  /// The second host never gets the credential, so its responses may be stored for all accounts.
  @Test(arguments: Change.allCases, ["/page", "https://cdn.example.net/page"] as [RequestPath])
  func `change of one account is no other account`(_ change: Change, _ path: RequestPath) async throws {
    let jar = CookieJar()
    let fixture = CacheFixture(change: { $0.cookies = .jar(jar) }) { _, number in .text("answer \(number)") }
    fixture.client.configure { $0.credentials = Self.account("ada") }
    _ = try await fixture.client.send(change.make(0, path, jar, fixture.client))
    let changed = try change.make(1, path, jar, fixture.client)
    let miss = await fixture.client.outcome(of: changed, options: .cache(.cacheOnly)).error?.cacheMiss
    #expect(path == "/page" ? miss == .missing : miss == .missing || miss == nil)
    fixture.client.configure { $0.credentials = Self.account("eve") }
    let other = await fixture.client.outcome(of: changed, options: .cache(.cacheOnly)).error?.cacheMiss
    if path == "/page" { #expect(other == .otherAccount) }
  }

  /// One account has stored responses in two states: with and without a cookie, or before and after the login. A third
  /// state is not another account.
  @Test(arguments: ["/page", "https://cdn.example.net/page"] as [RequestPath], StoreKind.all)
  func `third state is no other account`(_ path: RequestPath, _ kind: StoreKind) async throws {
    try await kind.with { store in
      let jar = CookieJar()
      let fixture = CacheFixture(store: store, change: { $0.cookies = .jar(jar) }) { _, number in
        .text("answer \(number)")
      }
      let asset = Asset(path: path)
      _ = try await fixture.client.send(asset)
      fixture.client.configure { $0.credentials = Self.account("ada") }
      for step in 0...1 { _ = try await fixture.client.send(Change.firstCookie.make(step, path, jar, fixture.client)) }
      for isWritten in [false, true] {
        if isWritten { await store.flush() }
        try jar.set(Cookie("sid", "third", host: path == "/page" ? "api.example.com" : "cdn.example.net"))
        let miss = await fixture.client.outcome(of: asset, options: .cache(.cacheOnly)).error?.cacheMiss
        #expect(miss == .missing)
        fixture.client.configure { $0.credentials = Self.account("eve") }
        let other = await fixture.client.outcome(of: asset, options: .cache(.cacheOnly)).error?.cacheMiss
        #expect(other == .otherAccount)
        fixture.client.configure { $0.credentials = Self.account("ada") }
      }
    }
  }

  @Test func `response of no account is no other account`() async throws {
    let fixture = CacheFixture { _, _ in .text("page") }
    _ = try await fixture.client.send(Page())
    fixture.client.configure { $0.credentials = Self.account("ada") }
    #expect(await fixture.miss() == .missing)
  }

  @Test func `logout removes one account only`() async throws {
    let (fixtures, pages) = Self.clients(.provider, ["ada", "eve"], .lifetime(.seconds(60)))
    for index in 0...1 { _ = try await fixtures[index].client.send(pages[index]) }
    await fixtures[0].cache.removeAll(account: "ada")
    #expect(await fixtures[0].miss(pages[0]) == .otherAccount)
    #expect(await fixtures[1].stored(pages[1]) == "eve 1")
  }

  @Test func `invalidation affects one account only`() async throws {
    let (fixtures, pages) = Self.clients(.provider, ["ada", "eve"], .lifetime(.seconds(60)))
    for index in 0...1 { _ = try await fixtures[index].client.send(pages[index]) }
    _ = try await fixtures[0].client.send(Page(method: .delete, cache: .none))
    #expect(await fixtures[0].stored(pages[0]) == nil)
    #expect(await fixtures[1].stored(pages[1]) == "eve 1")
  }

  @Test func `listings contain no secrets`() async throws {
    for identity in Identity.allCases {
      let (fixtures, pages) = Self.clients(identity, ["MARKER"], .lifetime(.seconds(60)))
      var page = pages[0]
      page.arguments = ["token": "MARKER"]
      _ = try await fixtures[0].client.send(page)
      let listed = await fixtures[0].cache.entries()
      #expect(listed.count == 1 && !"\(listed)".contains("MARKER"))
    }
  }

  // MARK: - Credentials that are not part of the key

  /// Names no account, but returns a credential.
  private struct Secretive: CredentialProvider {
    let token: String?
    var account: String? { nil }
    func credential(for account: String?) async throws -> Credential? { token.map { .bearer($0) } }
  }

  @Test(arguments: Self.policies)
  func `credential without an account is not stored`(_ policy: CachePolicy) async throws {
    let fixture = CacheFixture { request, _ in
      .page(request.fields[.authorization] ?? "nobody", ["Cache-Control": "max-age=60"])
    }
    for name in ["ada", "eve"] {
      fixture.client.configure { $0.credentials = Secretive(token: name) }
      #expect(try await fixture.client.send(Page(cache: policy)) == "Bearer \(name)")
    }
    #expect(await fixture.cache.entries().isEmpty)
    let last = try await fixture.client.response(Page(cache: policy))
    #expect(last.metrics.cache?.status.contains("; stored") == false)
  }

  @Test func `provider without credential is anonymous`() async throws {
    let fixture = CacheFixture(change: { $0.credentials = Secretive(token: nil) }) { _, number in
      .text("answer \(number)")
    }
    _ = try await fixture.client.send(Page())
    #expect(try await fixture.client.send(Page()) == "answer 1")
  }

  @Test(arguments: [HTTPFieldName.authorization, .cookie])
  func `credential below the cache is not stored`(_ name: HTTPFieldName) async throws {
    let token = Recorded(["ada"])
    let fixture = CacheFixture(change: {
      $0.interceptors.exchanges = [Signing { $0.fields.replace(HTTPField(name, token.all.last ?? "")) }]
    }) { request, _ in .text(request.fields[name] ?? "nobody") }
    #expect(try await fixture.client.send(Page()) == "ada")
    token.append("eve")
    #expect(try await fixture.client.send(Page()) == "eve")
    #expect(try await fixture.client.send(Page(headers: ["Authorization": "x", "Cookie": "y"])) == "eve")
    #expect(await fixture.cache.entries().isEmpty)
  }

  @Test(arguments: Identity.allCases)
  func `alias belongs to the caller`(_ identity: Identity) async throws {
    let (fixtures, pages) = Self.clients(identity, ["ada", "eve"], .lifetime(.seconds(60)))
    // The request that the response is also stored for always has the form of eve's.
    var put = pages[0]
    put.method = .put
    put.cache = .none.stored(as: [pages[1]])
    _ = try await fixtures[0].client.send(put)
    #expect(await fixtures[0].stored(pages[0]) == "ada 1")
    #expect(await fixtures[1].stored(pages[1]) == nil)
  }

  /// Lists the stored responses to each request instead of sending the request.
  private struct Listing: Interceptor {
    let store: MemoryStore
    let found = Recorded<[String]>()

    func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
      let stored = await store.responses(to: request, in: context)
      found.append(stored.responses.map { String(decoding: $0.body, as: UTF8.self) })
      return HTTPResponse(head: ResponseHead(status: 204), url: request.url)
    }
  }

  @Test func `listed responses belong to the caller`() async throws {
    let store = MemoryStore()
    let listing = Listing(store: store)
    let fixture = CacheFixture(store: store) { request, _ in .text(request.fields["X-Api-Key"] ?? "nobody") }
    let lister = CacheFixture(change: { $0.interceptors.calls = [listing] }) { _, _ in .text("server") }
    let pages = ["ada", "eve"].map { Page(headers: ["X-Api-Key": .secret($0)]) } + [Page()]
    for page in pages { _ = try await fixture.client.send(page) }
    for page in pages { _ = await lister.client.outcome(of: page) }
    #expect(listing.found.all == [["ada"], ["eve"], ["nobody"]])
  }

  @Test func `session end clears earlier caches`() async throws {
    let fixture = CacheFixture(change: { $0.credentials = FixedCredential(.bearer("ada"), account: "ada") }) { _, _ in
      .text("body")
    }
    _ = try await fixture.client.send(Page())
    fixture.client.configure { $0.cache.store = .own(ResponseCache(store: MemoryStore())) }
    _ = try await fixture.client.send(Page())
    await fixture.client.endSession(of: "ada")
    #expect(await fixture.cache.entries().isEmpty)
    #expect(await fixture.client.cache?.entries().isEmpty == true)
  }

  @Test func `unknown credential stores no alias`() async throws {
    let fixture = CacheFixture(change: { $0.credentials = Secretive(token: "ada") }) { _, number in
      .text("answer \(number)")
    }
    _ = try await fixture.client.send(Page(method: .put, cache: .none.stored(as: [Page()])))
    #expect(await fixture.cache.entries().isEmpty)
  }
}
