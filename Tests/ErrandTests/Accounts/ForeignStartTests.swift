@testable import ErrandCore
@testable import ErrandHTTP
import Errand
import ErrandSupport
import ErrandTesting
import Foundation
import TestSupport
import Testing

/// Calls that start at a server that the client does not name, over real sockets.
struct ForeignStartTests {
  private struct Get: APIRequest {
    typealias Response = String
    var path: Path = "/thing"
    var method = HTTPMethod.get
    var server = RequestServer.base
    var cache = CachePolicy.none
    var body: RequestBody?
    var arguments = Arguments()
    var family: RequestFamily?
    var argumentFormat = ArgumentFormat.byMethod
    var formats: Formats { Formats(arguments: argumentFormat) }
  }

  /// The client's server, and a foreign server that redirects to it.
  private struct World {
    let home: LoopbackServer
    let foreign: LoopbackServer
    let jar = CookieJar()
    let client: APIClient

    init(status: Int = 302, cdn: Bool = false, _ change: (inout ClientConfiguration) -> Void = { _ in }) throws {
      let home = try LoopbackServer { request in
        .ok("\(request.headers["Authorization"] ?? "nobody") \(request.headers["Cookie"] ?? "none")")
      }
      self.home = home
      foreign = try LoopbackServer { .redirect(to: home.url + $0.target, status: status) }
      var configuration = ClientConfiguration(baseURL: home.url, cdnURL: cdn ? foreign.url : nil)
      configuration.credentials = FixedCredential(.bearer("ada"), account: "ada")
      configuration.cookies = .jar(jar)
      change(&configuration)
      client = APIClient(configuration)
      for (name, site) in [("s", Cookie.SameSite.strict), ("l", .lax), ("n", .none)] {
        jar.set(try Cookie(name, "1", host: "127.0.0.1", isSecure: false, sameSite: site))
      }
    }

    var absolute: Get { Get(path: RequestPath(stringLiteral: foreign.url + "/thing")) }
  }

  @Test func `foreign redirect receives no credential`() async throws {
    let world = try World()
    #expect(try await world.client.send(Get()) == "Bearer ada s=1; l=1; n=1")
    #expect(try await world.client.send(world.absolute) == "nobody l=1; n=1")
    #expect(world.foreign.requests.allSatisfy { $0.headers["Authorization"] == nil })
  }

  @Test func `Lax cookies skip unsafe methods`() async throws {
    let world = try World(status: 307) { $0.redirects = .follow(resendsBodyElsewhere: true) }
    var post = world.absolute
    (post.method, post.body) = (.post, .text("body"))
    #expect(try await world.client.send(post) == "nobody n=1")
    #expect(world.home.requests.last?.method == "POST")
  }

  @Test func `configured servers are not foreign`() async throws {
    let world = try World(cdn: true)
    #expect(try await world.client.send(Get(server: .cdn)) == "Bearer ada s=1; l=1; n=1")
  }

  @Test func `foreign start stores nothing for account`() async throws {
    for isFirst in [true, false] {
      let world = try World { $0.cookies = .off }
      var (own, absolute) = (Get(), world.absolute)
      (own.cache, absolute.cache) = (.lifetime(.seconds(60)), .lifetime(.seconds(60)))
      for _ in 1...2 {
        if isFirst { #expect(try await world.client.send(absolute) == "nobody none") }
        #expect(try await world.client.send(own) == "Bearer ada none")
        if !isFirst { #expect(try await world.client.send(absolute) == "nobody none") }
      }
      #expect(world.home.requests.count == 2)
    }
  }

  @Test func `home and foreign calls do not join`() async throws {
    let gate = Gate()
    let home = try LoopbackServer { .ok($0.headers["Authorization"] ?? "nobody").held(at: gate) }
    let foreign = try LoopbackServer { _ in .redirect(to: home.url + "/thing") }
    let client = APIClient(baseURL: home.url)
    client.configure { $0.credentials = FixedCredential(.bearer("ada"), account: "ada") }
    async let own = client.send(Get())
    try await gate.reached()
    async let absolute = client.send(Get(path: RequestPath(stringLiteral: foreign.url + "/x")))
    try await gate.reached(times: 2)
    gate.open()
    #expect(try await own == "Bearer ada")
    #expect(try await absolute == "nobody")
  }

  @Test func `cookie site follows the opener`() throws {
    let strict = try Cookie("a", "1", host: "api.example.com", sameSite: .strict)
    struct Suffixes: PublicSuffixes {
      func isPublicSuffix(_ domain: String) -> Bool { domain == "com" }
    }
    let cases: [(String, Bool, Bool)] = [
      ("https://api.example.com", true, true), ("https://www.api.example.com", true, true),
      ("https://example.com", true, true), ("https://www.example.com", false, true),
      ("https://example.org", false, false),
      ("https://other.com", false, false), ("http://api.example.com", true, true),
      ("https://api.example.com:8443", false, false), ("https://com", true, false),
    ]
    let target = try HTTPURL("https://api.example.com/").origin
    for (opener, alone, listed) in cases {
      let site = CookieSite.other(try HTTPURL(opener + "/").origin, isSafe: true)
      #expect(site.admits(strict, to: target, nil) == alone, "\(opener)")
      #expect(site.admits(strict, to: target, Suffixes()) == listed, "\(opener), with a suffix list")
    }
    let lax = try Cookie("a", "1", host: "api.example.com", sameSite: .lax)
    let other = try HTTPURL("https://other.com/").origin
    #expect(CookieSite.other(other, isSafe: true).admits(lax, to: target, nil))
    #expect(!CookieSite.other(other, isSafe: false).admits(lax, to: target, nil))
    let unmarked = try Cookie("a", "1", host: "api.example.com")
    #expect(CookieSite.other(other, isSafe: true).admits(unmarked, to: target, nil))
    #expect(!CookieSite.other(other, isSafe: false).admits(unmarked, to: target, nil))
    let none = try Cookie("a", "1", host: "api.example.com", sameSite: Cookie.SameSite.none)
    #expect(CookieSite.other(other, isSafe: false).admits(none, to: target, nil))
  }

  @Test(arguments: [HTTPMethod.get, .post])
  func `secret common arguments stay at named servers`(_ method: HTTPMethod) async throws {
    let world = try World(status: 200) {
      $0.additions.arguments = { ["access_token": "MARKER", "token": "MARKER", "lang": "de"] }
      $0.additions.bodyArguments = { ["api_key": "MARKER", "app": "shop"] }
    }
    var request = world.absolute
    (request.method, request.arguments) = (method, ["q": "x", "token": "own"])
    request.family = RequestFamily("shop", arguments: ["secret": "MARKER", "f": "1"])
    _ = await world.client.outcome(of: request)
    let sent = try #require(world.foreign.requests.first)
    let text = sent.target + sent.bodyText
    #expect(!text.contains("MARKER"), "\(text)")
    #expect(text.contains("q=x") && text.contains("token=own") && text.contains("f=1"), "\(text)")
    request.path = "/thing"
    _ = await world.client.outcome(of: request)
    let home = try #require(world.home.requests.first)
    #expect((home.target + home.bodyText).contains("access_token=MARKER"))
  }

  private static let nested: Arguments = [
    "device": ["token": "MARKER", "id": "7"] as Arguments,
    "list": [["api_key": "MARKER", "app": "shop"] as Arguments] as [Arguments],
  ]

  @Test(arguments: [ArgumentFormat.query, .form, .json])
  func `nested secrets stay at named servers`(_ format: ArgumentFormat) async throws {
    let bench = ScriptedClient {
      $0.additions.arguments = { Self.nested }
      $0.additions.bodyArguments = { ["common": Self.nested] }
      $0.formats.argumentStyle = ArgumentStyle(arrays: .indexed)
    }
    let family = RequestFamily("shop", arguments: ["family": Self.nested])
    let own: Arguments = ["own": ["token": "kept"] as Arguments]
    for (url, isNamed) in [("http://other.example/p", false), ("/p", true)] {
      let request = Sending(
        path: RequestPath(url), method: .post, family: family, arguments: own, argumentFormat: format)
      let sent = try #require(try await bench.sent(request))
      let text = (sent.url.string.removingPercentEncoding ?? "") + (sent.text?.removingPercentEncoding ?? "")
      #expect(text.contains("MARKER") == isNamed, "\(text)")
      #expect(text.contains("kept") && text.contains("7") && text.contains("shop"), "\(text)")
    }
    let declared = Sending(path: "http://other.example/p", method: .post, family: family, body: .json(["a": 1]))
    #expect(try await bench.sent(declared)?.text?.contains("MARKER") == false)
  }

  private func moved(_ method: HTTPMethod, toForeign: Bool) async throws -> (world: World, text: String) {
    let world = try World(status: 200) {
      $0.additions.arguments = { ["access_token": "MARKER", "lang": "de"] }
      $0.additions.bodyArguments = { ["api_key": "MARKER", "app": "shop"] }
      $0.headers = ["X-Api-Key": .secret("MARKER")]
    }
    let target = toForeign ? world.foreign : world.home
    world.client.configure { [url = target.url] configuration in
      configuration.additions.filters.append(URLFilter("move") { target, _ in target.base = url })
    }
    var request = toForeign ? Get() : world.absolute
    (request.method, request.arguments) = (method, ["q": "x", "token": "own"])
    request.family = RequestFamily("shop", arguments: ["secret": "MARKER", "f": "1"])
    _ = await world.client.outcome(of: request)
    let sent = try #require(target.requests.first)
    return (world, sent.target + sent.bodyText + (sent.headers["X-Api-Key"] ?? ""))
  }

  @Test(arguments: [HTTPMethod.get, .post])
  func `filter to a foreign server sends no secrets`(_ method: HTTPMethod) async throws {
    let (_, text) = try await moved(method, toForeign: true)
    #expect(!text.contains("MARKER"), "\(text)")
    #expect(text.contains("q=x") && text.contains("token=own") && text.contains("f=1"), "\(text)")
    #expect(text.contains("lang=de") && text.contains("app=shop") == (method == .post), "\(text)")
  }

  @Test(arguments: [HTTPMethod.get, .post])
  func `filter to a named server sends secrets`(_ method: HTTPMethod) async throws {
    let (_, text) = try await moved(method, toForeign: false)
    #expect(text.contains("access_token=MARKER") && text.contains("secret=MARKER"), "\(text)")
    #expect(text.contains("api_key=MARKER") == (method == .post), "\(text)")
  }
}
