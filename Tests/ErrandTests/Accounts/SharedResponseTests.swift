import ErrandCache
@testable import ErrandCore
import Errand
import ErrandCurl
import ErrandEngine
import ErrandSupport
import ErrandTesting
import Foundation
import TestSupport
import Testing

/// Which accounts may get a stored response, over real sockets.
struct SharedResponseTests {
  private struct Get: APIRequest {
    typealias Response = String
    var path: Path = "/thing"
    var method = HTTPMethod.get
    var server = RequestServer.base
    var cache = CachePolicy.lifetime(.seconds(60))
    var headers = RequestHeaders()
    var credential = RequestCredential.inherited
  }

  /// Sets a field on each exchange, below every interceptor that could know the account.
  private struct Stamp: Interceptor {
    let name: HTTPFieldName
    let value: Recorded<String>
    var isSecret = true
    var isCommon = false

    func mayRevealAccount(in request: HTTPRequest, context: CallContext) -> Bool { !isCommon }

    func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
      var request = request
      request.fields.replace(HTTPField(name, value.all.last ?? "", isSecret: isSecret))
      return try await next(request)
    }
  }

  /// A transport with an identity that servers recognise.
  private struct Known: Transport {
    let base: any Transport
    let identity: String?
    var capabilities: TransportCapabilities { base.capabilities }
    var timers: (any Timers)? { base.timers }
    func send(_ exchange: Exchange) async throws -> HTTPResponse { try await base.send(exchange) }
  }

  private func counting() throws -> LoopbackServer { try LoopbackServer { .ok("\($0.number)") } }

  @Test(arguments: ["X-Api-Key", "Authorization", "Cookie", "Proxy-Authorization"] as [HTTPFieldName])
  func `secret added below cache prevents storing`(_ name: HTTPFieldName) async throws {
    let server = try counting()
    let key = Recorded(["one"])
    let client = APIClient(baseURL: server.url)
    client.configure { $0.interceptors.exchanges = [Stamp(name: name, value: key)] }
    let first = try await client.send(Get())
    key.append("two")
    #expect(try await client.send(Get()) != first)
    #expect(await client.cache?.entries().isEmpty == true)
  }

  @Test func `secret changed below cache prevents storing`() async throws {
    let server = try counting()
    let client = APIClient(baseURL: server.url)
    client.configure {
      $0.headers = ["X-Api-Key": .secret("frozen")]
      $0.interceptors.exchanges = [Stamp(name: "X-Api-Key", value: Recorded(["two"]), isSecret: false)]
    }
    _ = try await client.send(Get())
    #expect(await client.cache?.entries().isEmpty == true)
  }

  @Test func `secret fields separate stored responses`() async throws {
    let server = try counting()
    let client = APIClient(baseURL: server.url)
    let pages = ["one", "two"].map { Get(headers: ["X-Api-Key": .secret($0)]) }
    for (page, text) in zip(pages + pages, ["1", "2", "1", "2"]) { #expect(try await client.send(page) == text) }
    #expect(server.requests.count == 2)
  }

  @Test func `transports with different identities share nothing`() async throws {
    let server = try counting()
    let cache = APIClient(baseURL: server.url)
    let shared = try #require(cache.cache)
    let clients = ["one", "two", nil].map { name in
      var configuration = ClientConfiguration(baseURL: server.url)
      configuration.transport = .own(Known(base: CurlTransport(), identity: name))
      configuration.cache.store = .own(shared)
      return APIClient(configuration)
    }
    for _ in 1...2 {
      for (client, text) in zip(clients, ["1", "2", "3"]) { #expect(try await client.send(Get()) == text) }
    }
    // A write over one transport must not remove the stored response of another.
    _ = try await clients[0].send(Get(method: .put, cache: .none))
    #expect(try await clients[1].send(Get()) == "2")
    #expect(try await clients[0].send(Get()) == "5")
  }

  @Test func `address overrides separate stored responses`() async throws {
    let server = try counting()
    let shared = ResponseCache(store: MemoryStore())
    let clients = try ["127.0.0.1", "127.0.0.1,127.0.0.1"].map { addresses in
      var settings = EngineConfiguration()
      settings.addressOverrides = ["any.example:\(server.port)": addresses]
      var configuration = ClientConfiguration(baseURL: "http://any.example:\(server.port)")
      configuration.transport = .own(try EngineTransport(settings))
      configuration.cache.store = .own(shared)
      return APIClient(configuration)
    }
    for _ in 1...2 {
      for (client, text) in zip(clients, ["1", "2"]) { #expect(try await client.send(Get()) == text) }
    }
  }

  @Test func `client certificates form the identity`() throws {
    func certificate(_ text: String) -> ClientCertificate { .pem(certificate: .data(Data(text.utf8))) }
    let names = [[], [certificate("a")], [certificate("b")], [certificate("a"), certificate("b")]].map {
      ClientCertificate.identity(of: $0)
    }
    #expect(names[0] == nil && Set(names).count == 4)
    #expect(ClientCertificate.identity(of: [certificate("a")]) == names[1])
    let file = URL.temporaryDirectory.appending(path: "errand-\(UUID().uuidString).pem")
    defer { try? FileManager.default.removeItem(at: file) }
    func ofFile(_ text: String) throws -> String? {
      try Data(text.utf8).write(to: file)
      return ClientCertificate.identity(of: [.pem(certificate: .file(path: file.path(percentEncoded: false)))])
    }
    #expect(try ofFile("a") == names[1], "a file is identified by its content")
    #expect(try ofFile("b") == names[2])
    #expect(CurlTransport().identity == nil)
  }

  // MARK: - Responses for every account

  /// A client with a server and a CDN, whose current account the test selects.
  private struct Shop {
    let home: LoopbackServer
    let cdn: LoopbackServer
    let accounts = CredentialStore()
    let client: APIClient

    init(_ change: (inout ClientConfiguration) -> Void = { _ in }) async throws {
      home = try LoopbackServer { .ok("home \($0.number)") }
      cdn = try LoopbackServer { .ok("cdn \($0.number)").setting("Set-Cookie", to: "seen=1") }
      var configuration = ClientConfiguration(baseURL: home.url, cdnURL: cdn.url)
      configuration.credentials = accounts
      change(&configuration)
      client = APIClient(configuration)
      for name in ["bob", "ada"] { try await accounts.login(name, with: AccountCredential(.bearer(name))) }
    }

    func twice(_ request: some APIRequest<String>) async throws -> [String] {
      let first = try await client.send(request)
      try await accounts.use("bob")
      return [first, try await client.send(request)]
    }
  }

  @Test func `CDN response is shared by all accounts`() async throws {
    let shop = try await Shop()
    #expect(try await shop.twice(Get(server: .cdn)) == ["cdn 1", "cdn 1"])
    try await shop.accounts.logout("ada")
    try await shop.accounts.logout("bob")
    #expect(try await shop.client.send(Get(server: .cdn)) == "cdn 1")
    #expect(shop.cdn.requests.count == 1)
  }

  @Test func `client-wide field leaves a CDN response shared`() async throws {
    let shop = try await Shop { $0.headers = ["X-Client": "1.0"] }
    let page = Get(server: .cdn)
    #expect(try await shop.twice(page) == ["cdn 1", "cdn 1"])
    // The app may change the field with the account, so each value has its own response.
    shop.client.configure { $0.headers = ["X-Client": "bob's"] }
    #expect(try await shop.client.send(page) == "cdn 2")
    try await shop.accounts.use("ada")
    #expect(try await shop.client.send(page) == "cdn 2")
    shop.client.configure { $0.headers = ["X-Client": "1.0"] }
    #expect(try await shop.client.send(page) == "cdn 1")
    try await shop.client.removeCached(page)
    #expect(try await shop.client.send(page) == "cdn 3")
    #expect(try await shop.twice(Get(server: .cdn, headers: ["X-Client": "own"])) == ["cdn 4", "cdn 5"])
  }

  @Test func `neutral exchange interceptor leaves a CDN response shared`() async throws {
    for interceptor in [
      Stamp(name: "X-Trace", value: Recorded(["x"]), isSecret: false, isCommon: true),
      Signing(isSameForAllAccounts: true) { $0.fields["X-Signature"] = "same" },
      DigestAuthentication(user: "a", password: "b", algorithms: []),
    ] as [any Interceptor] {
      let shop = try await Shop { $0.interceptors.exchanges = [interceptor] }
      #expect(try await shop.twice(Get(server: .cdn)) == ["cdn 1", "cdn 1"])
      try await shop.accounts.use("ada")
      #expect(try await shop.twice(Get()) == ["home 1", "home 2"])
    }
  }

  @Test func `unsigned response of another server is shared`() async throws {
    let other = try counting()
    let shop = try await Shop { $0.interceptors.exchanges = [Signing { $0.fields["X-Signature"] = "of the account" }] }
    let url = other.url + "/thing"
    #expect(try await shop.twice(Get(path: RequestPath(url))) == ["1", "1"])
    try await shop.accounts.use("ada")
    #expect(try await shop.twice(Get(server: .cdn)) == ["cdn 1", "cdn 2"])
  }

  @Test func `secret of a neutral interceptor prevents storing`() async throws {
    let shop = try await Shop {
      $0.interceptors.exchanges = [Stamp(name: "X-User", value: Recorded(["x"]), isCommon: true)]
    }
    #expect(try await shop.twice(Get(server: .cdn)) == ["cdn 1", "cdn 2"])
    #expect(await shop.client.cache?.entries().isEmpty == true)
  }

  @Test func `home response belongs to one account`() async throws {
    let shop = try await Shop()
    #expect(try await shop.twice(Get()) == ["home 1", "home 2"])
    try await shop.accounts.logout("bob")
    #expect(await shop.client.cache?.entries().count == 1)
  }

  @Test func `write removes every account's response`() async throws {
    let shop = try await Shop()
    let page = Get(server: .cdn)
    #expect(try await shop.client.send(page) == "cdn 1")
    _ = try await shop.client.send(Get(method: .put, server: .cdn, cache: .none, credential: .bearer("own")))
    #expect(try await shop.client.send(page) == "cdn 3")
  }

  /// The reasons for which a response from the CDN still belongs to one account.
  enum Doubt: CaseIterable { case cookies, secretField, unknownField, exchangeInterceptor, namedOrigin, own }

  @Test(arguments: Doubt.allCases) func `uncertain CDN response belongs to one account`(_ doubt: Doubt) async throws {
    var page = Get(server: .cdn)
    let shop = try await Shop {
      switch doubt {
      case .cookies: $0.cookies = .perAccount(CookieJars())
      case .exchangeInterceptor:
        $0.interceptors.exchanges = [Stamp(name: "X-User", value: Recorded(["x"]), isSecret: false)]
      case .secretField, .unknownField, .namedOrigin, .own: break
      }
    }
    switch doubt {
    case .secretField: page.headers = ["X-Api-Key": .secret("same")]
    case .unknownField: page.headers = ["X-User": "same"]
    case .own: page.credential = .bearer("same")
    case .namedOrigin:
      shop.client.configure {
        $0.credentials = Everywhere(accounts: shop.accounts)
      }
    case .cookies:
      page.path = "/first"
      _ = try await shop.client.send(page)
      page.path = "/thing"
    case .exchangeInterceptor: break
    }
    let texts = try await shop.twice(page)
    #expect(texts[0] != texts[1])
  }

  /// Sends its credential to every server.
  private struct Everywhere: CredentialProvider {
    let accounts: CredentialStore
    var account: String? { accounts.account }
    func belongs(to origin: HTTPURL.Origin, base: HTTPURL.Origin) -> Bool { true }
    func credential(for account: String?) async throws -> Credential? { try await accounts.credential(for: account) }
  }

  // MARK: - An account switch while the provider is asked

  /// Returns the credential of the account that is current when the latch opens, not of the account that it is asked
  /// for. The credential is nil if `isSilent` is true.
  private final class Careless: CredentialProvider {
    private let present: Locked<String?>
    private let isSilent: Bool
    let gate = Latch()

    init(_ name: String? = "ada", isSilent: Bool = false) {
      present = Locked(name)
      self.isSilent = isSilent
    }

    var account: String? { present.withLock { $0 } }
    func become(_ name: String) { present.withLock { $0 = name } }
    func credential(for account: String?) async throws -> Credential? {
      try await gate.wait()
      return isSilent ? nil : present.withLock { $0 }.map { .bearer($0) }
    }
  }

  @Test(arguments: ["ada", nil]) func `cookies of another account are not stored`(_ start: String?) async throws {
    let server = try LoopbackServer {
      .ok($0.headers["Authorization"] ?? "").setting("Set-Cookie", to: "sid=\($0.number)")
    }
    let (provider, jars) = (Careless(start), CookieJars())
    let jar = jars.jar(of: start)
    jar.set(try Cookie("own", "1", host: "127.0.0.1", isSecure: false))
    let client = APIClient(baseURL: server.url)
    client.configure {
      $0.credentials = provider
      $0.cookies = .perAccount(jars)
    }
    async let answer = client.send(Get(method: .post, cache: .none))
    #expect(await provider.gate.reached())
    provider.become("bob")
    provider.gate.open()
    #expect(try await answer == "Bearer bob")
    #expect(server.requests.map { $0.headers["Cookie"] } == [nil], "no other cookies are sent with bob's credential")
    #expect(jar.all.map(\.name) == ["own"] && jars.jar(of: "bob").all.isEmpty)
    _ = try await client.send(Get(method: .post, cache: .none))
    #expect(jars.jar(of: "bob").all.map(\.value) == ["2"])
  }

  private struct Film: APIRequest {
    let file: URL
    var path: Path { "/film" }
    var download: Download? { .to(file) }
    typealias Response = DownloadedFile
  }

  @Test(arguments: ["ada", nil]) func `download of another account is not sent`(_ start: String?) async throws {
    let server = try counting()
    let provider = Careless(start)
    let client = APIClient(baseURL: server.url)
    client.configure { $0.credentials = provider }
    let file = URL.temporaryDirectory.appending(path: "errand-film-\(UUID())")
    async let outcome = client.outcome(of: Film(file: file))
    #expect(await provider.gate.reached())
    provider.become("bob")
    provider.gate.open()
    #expect(await outcome.error?.code == .loggedOut)
    #expect(server.requests.isEmpty && !FileManager.default.fileExists(atPath: file.path))
  }

  @Test func `login keeps a download without credential`() async throws {
    let server = try counting()
    let provider = Careless(nil, isSilent: true)
    let client = APIClient(baseURL: server.url)
    client.configure { $0.credentials = provider }
    let file = URL.temporaryDirectory.appending(path: "errand-film-\(UUID())")
    defer { try? FileManager.default.removeItem(at: file) }
    async let outcome = client.outcome(of: Film(file: file))
    #expect(await provider.gate.reached())
    provider.become("bob")
    provider.gate.open()
    #expect(await outcome.error == nil)
    #expect(server.requests.map { $0.headers["Authorization"] } == [nil])
  }

  @Test func `response with mismatched credential is not stored`() async throws {
    let server = try LoopbackServer { .ok($0.headers["Authorization"] ?? "nobody") }
    let provider = Careless()
    let client = APIClient(baseURL: server.url)
    client.configure { $0.credentials = provider }
    async let first = client.send(Get())
    async let second = client.send(Get())
    #expect(await provider.gate.reached())
    #expect(await eventually { client.services.joining.counts.waiting == 2 })
    provider.become("bob")
    provider.gate.open()
    _ = try await [first, second]
    #expect(server.requests.count == 2, "no call shares the exchange")
    #expect(await client.cache?.entries().isEmpty == true)
    provider.become("ada")
    #expect(try await client.send(Get()) == "Bearer ada")
    provider.become("bob")
    #expect(try await client.send(Get()) == "Bearer bob")
  }
}
