@testable import ErrandCore
import Errand
import ErrandTesting
import Foundation
import Testing
import TestSupport

/// Cookies in the pipeline, over a scripted transport: which cookies each request carries, and for which account.
struct CookieCallTests {
  private struct Get: APIRequest {
    typealias Response = String
    var path: Path = "/page"
    var method = HTTPMethod.get
    var headers = RequestHeaders()
    var cookies = CookieUse.inherited
    var cache = CachePolicy.none
    var statusRule: StatusRule = .inherited
    var validation: ResponseValidation { ResponseValidation(status: statusRule) }
  }

  /// Responds with the cookies of the request, and sets the cookies that the query names.
  private static func echo(_ request: HTTPRequest) -> ScriptedAnswer {
    var answer = ScriptedAnswer.text(request.fields.values(of: .cookie).joined(separator: " | "))
    for pair in (request.url.query ?? "").split(separator: "&") where pair.hasPrefix("set=") {
      answer.head.fields.append(HTTPField(.setCookie, String(pair.dropFirst(4))))
    }
    return answer
  }

  private func bench(
    _ rule: CookieRule, _ change: (inout ClientConfiguration) -> Void = { _ in }
  ) -> ScriptedClient {
    ScriptedClient(
      {
        $0.cookies = rule; change(&$0)
      }, answer: { Self.echo($0) })
  }

  @Test func `cookies are not stored by default`() async throws {
    let bench = ScriptedClient(answer: { Self.echo($0) })
    _ = try await bench.client.send(Get(path: "/page?set=a=1"))
    #expect(try await bench.client.send(Get()) == "")
  }

  @Test func `jar sends stored cookies`() async throws {
    let jar = CookieJar()
    let bench = bench(.jar(jar))
    #expect(try await bench.client.send(Get(path: "/page?set=a=1&set=b=2;Path=/")) == "")
    #expect(try await bench.client.send(Get()) == "a=1; b=2")
    #expect(try await bench.client.send(Get(path: "http://other.example/page")) == "")
    #expect(bench.transport.requests[1].fields.all.first { $0.name == .cookie }?.isSecret == true)
    #expect(jar.all.map(\.name) == ["a", "b"])
  }

  @Test func `explicit Cookie field replaces the jar's`() async throws {
    let jar = CookieJar([try Cookie("jar", "1", host: "h.example", isSecure: false)])
    let bench = bench(.jar(jar))
    #expect(try await bench.client.send(Get(path: "/page?set=new=2", headers: ["Cookie": "own=1"])) == "own=1")
    #expect(try await bench.client.send(Get()) == "jar=1; new=2", "the cookies of its response are stored")
  }

  @Test func `request may decline cookies`() async throws {
    let jar = CookieJar([try Cookie("a", "1", host: "h.example", isSecure: false)])
    let bench = bench(.jar(jar))
    #expect(try await bench.client.send(Get(path: "/page?set=b=2", cookies: .none)) == "")
    #expect(jar.all.map(\.name) == ["a"])
  }

  @Test func `each redirect hop has its cookies`() async throws {
    let jar = CookieJar([try Cookie("there", "1", host: "o.example", isSecure: false)])
    let bench = ScriptedClient({ $0.cookies = .jar(jar) }) { request in
      switch request.url.string {
      case "http://h.example/login":
        var answer = ScriptedAnswer.redirect(to: "/home", status: 303)
        answer.head.fields.append(HTTPField(.setCookie, "sid=1; Path=/"))
        return answer
      case "http://h.example/home": return .redirect(to: "http://o.example/x")
      default: return Self.echo(request)
      }
    }
    #expect(try await bench.client.send(Get(path: "/login", method: .post)) == "there=1")
    #expect(bench.transport.requests.map { $0.fields[.cookie] } == [nil, "sid=1", "there=1"])
  }

  @Test func `redirect replaces explicit Cookie field by the jar's`() async throws {
    let jar = CookieJar([try Cookie("there", "1", host: "o.example", isSecure: false)])
    let bench = ScriptedClient({ $0.cookies = .jar(jar) }) { request in
      request.url.host == "h.example" ? .redirect(to: "http://o.example/") : Self.echo(request)
    }
    #expect(try await bench.client.send(Get(headers: ["Cookie": "own=1"])) == "there=1")
  }

  @Test func `refused cookies are logged without values`() async throws {
    let lines = Recorded<String>()
    let bench = bench(.jar(CookieJar())) { $0.log = { lines.append($0.text) } }
    _ = try await bench.client.send(Get(path: "/page?set=sid=MARKER;Secure&set=b=MARKER;Domain=example"))
    let told = lines.all.filter { $0.contains("is rejected") }
    #expect(
      told == [
        "a cookie from http://h.example is rejected: the cookie is Secure but was sent over http",
        "a cookie from http://h.example is rejected: the Domain of the cookie covers several hosts, and the jar has no list of public suffixes",
      ])
    #expect(!lines.all.contains { $0.contains("sid=MARKER") && $0.contains("is rejected") })
  }

  @Test func `failed responses set cookies too`() async throws {
    let bench = ScriptedClient({ $0.cookies = .jar(CookieJar()) }) { request in
      request.fields.contains(.cookie) ? Self.echo(request) : .status(401, fields: ["Set-Cookie": "challenge=1"])
    }
    #expect(await bench.failure(of: Get())?.status == 401)
    #expect(try await bench.client.send(Get()) == "challenge=1")
  }

  // MARK: - Accounts

  @Test func `redirect back with a new cookie is not a loop`() async throws {
    let answer: @Sendable (HTTPRequest) -> ScriptedAnswer = { request in
      switch (request.url.path, request.fields[.cookie]) {
      case ("/app", "sid=1"): .text("in")
      case ("/app", _): .status(302, fields: ["Location": "/login"])
      case ("/login", _): .status(302, fields: ["Location": "/app", "Set-Cookie": "sid=1"])
      default: .status(302, fields: ["Location": "/round", "Set-Cookie": "lap=1"])
      }
    }
    let bench = ScriptedClient({ $0.cookies = .jar(CookieJar()) }, answer: answer)
    #expect(try await bench.client.send(Get(path: "/app")) == "in")
    #expect(bench.transport.requests.map(\.url.path) == ["/app", "/login", "/app"])
    #expect(await bench.client.outcome(of: Get(path: "/round")).error?.code == .tooManyRedirects)
    let plain = ScriptedClient(answer: answer)
    #expect(await plain.client.outcome(of: Get(path: "/app")).error?.code == .redirectLoop)
  }

  private final class Login: CredentialProvider {
    let name: Recorded<String?>
    init(_ name: String?) { self.name = Recorded([name]) }
    var account: String? { name.all.last ?? nil }
    func credential(for account: String?) async throws -> Credential? { account.map { .bearer($0) } }
  }

  @Test func `accounts do not share a jar`() async throws {
    let (jars, login) = (CookieJars(), Login("ada"))
    let bench = bench(.perAccount(jars)) { $0.credentials = login }
    _ = try await bench.client.send(Get(path: "/page?set=sid=ada"))
    login.name.append("eve")
    #expect(try await bench.client.send(Get(path: "/page?set=sid=eve")) == "")
    login.name.append(nil)
    #expect(try await bench.client.send(Get()) == "")
    login.name.append("ada")
    #expect(try await bench.client.send(Get()) == "sid=ada")
    bench.client.removeCookies(of: "ada")
    #expect(try await bench.client.send(Get()) == "")
    login.name.append("eve")
    #expect(try await bench.client.send(Get()) == "sid=eve")
  }

  @Test func `logout keeps cookies only for the farewell`() async throws {
    let (jars, accounts) = (CookieJars(), CredentialStore())
    let bench = bench(.perAccount(jars)) { $0.credentials = accounts }
    try await accounts.login("ada", with: AccountCredential(.bearer("a")))
    _ = try await bench.client.send(Get(path: "/page?set=sid=ada"))
    try await accounts.logout { _ = try await bench.client.send(Get(path: "/logout")) }
    #expect(bench.transport.requests.last?.fields[.cookie] == "sid=ada")
    #expect(jars.jar(of: "ada").all.isEmpty)
    _ = try await bench.client.send(Get(path: "/page?set=sid=nobody"))
    jars.jar(of: "eve").set(try Cookie("sid", "eve", host: "h.example"))
    await bench.client.endSession(of: "eve")
    #expect(jars.jar(of: "eve").all.isEmpty && jars.jar(of: nil).all.map(\.value) == ["nobody"])
  }

  @Test func `logout empties jars of earlier rules`() async throws {
    let (jars, login) = (CookieJars(), Login("ada"))
    let bench = bench(.perAccount(jars)) { $0.credentials = login }
    _ = try await bench.client.send(Get(path: "/page?set=sid=ada"))
    bench.client.configure { $0.cookies = .off }
    #expect(!jars.jar(of: "ada").all.isEmpty)
    await bench.client.endSession(of: "ada")
    #expect(jars.jar(of: "ada").all.isEmpty)
  }

  @Test func `late response after logout sets nothing`() async throws {
    let (jars, login, latch) = (CookieJars(), Login("ada"), Latch())
    let bench = ScriptedClient({
      $0.cookies = .perAccount(jars); $0.credentials = login
    }) { request in
      try await latch.wait()
      return Self.echo(request)
    }
    async let late = bench.client.send(Get(path: "/page?set=sid=late"))
    await latch.reached(1)
    bench.client.removeCookies(of: "ada")
    latch.open()
    _ = try await late
    #expect(jars.jar(of: "ada").all.isEmpty)
  }

  // MARK: - Sharing

  @Test func `equal cookies share an exchange`() async throws {
    let (jar, latch) = (CookieJar([try Cookie("sid", "1", host: "h.example", isSecure: false)]), Latch())
    let bench = ScriptedClient({ $0.cookies = .jar(jar) }) { request in
      try await latch.wait()
      return Self.echo(request)
    }
    let calls = (0..<3).map { _ in Task { try await bench.client.send(Get()) } }
    #expect(await eventually { bench.client.services.joining.counts == (1, 3) })
    latch.open()
    for call in calls { #expect(try await call.value == "sid=1") }
    #expect(bench.transport.requests.count == 1)
  }

  @Test func `different cookies share no exchange`() async throws {
    let (jar, latch) = (CookieJar([try Cookie("sid", "1", host: "h.example", isSecure: false)]), Latch())
    let bench = ScriptedClient({ $0.cookies = .jar(jar) }) { request in
      try await latch.wait()
      return Self.echo(request)
    }
    async let before = bench.client.send(Get())
    await latch.reached(1)
    jar.set(try Cookie("sid", "2", host: "h.example", isSecure: false))
    async let after = bench.client.send(Get())
    async let without = bench.client.send(Get(cookies: .none))
    await latch.reached(3)
    latch.open()
    let values = try await [before, after, without]
    #expect(values == ["sid=1", "sid=2", ""])
  }

  // MARK: - Stored answers

  private static let kept = CachePolicy.lifetime(.seconds(60))

  @Test(arguments: [nil, "ada"])
  func `stored response belongs to its cookies`(_ account: String?) async throws {
    let jar = CookieJar()
    let bench = bench(.jar(jar)) { $0.credentials = account.map { FixedCredential(.bearer("t"), account: $0) } }
    func page() async throws -> String { try await bench.client.send(Get(cache: Self.kept)) }
    let cookie = { try Cookie("sid", $0, host: "h.example", isSecure: false) }
    #expect(try await page() == "")
    jar.set(try cookie("ada"))
    #expect(try await page() == "sid=ada", "the response stored without the cookie is not served")
    #expect(try await page() == "sid=ada")
    #expect(bench.transport.requests.count == 2, "the response with the cookie is stored")
    jar.set(try cookie("eve"))
    #expect(try await page() == "sid=eve")
    jar.removeAll()
    #expect(try await page() == "")
    #expect(bench.transport.requests.count == 3)
    #expect(try await bench.client.send(Get(cookies: .none, cache: Self.kept)) == "")
    #expect(bench.transport.requests.count == 3)
  }

  @Test func `stored response sets no cookies again`() async throws {
    let jar = CookieJar()
    let bench = bench(.jar(jar))
    _ = try await bench.client.send(Get(path: "/page?set=a=1;Path=/other", cache: Self.kept))
    jar.removeAll()
    _ = try await bench.client.send(Get(path: "/page?set=a=1;Path=/other", cache: Self.kept))
    #expect(bench.transport.requests.count == 1 && jar.all.isEmpty)
  }

  @Test(arguments: [nil, "ada"])
  func `response to newer cookies is not stored`(_ account: String?) async throws {
    let (jar, latch) = (CookieJar([try Cookie("sid", "1", host: "h.example", isSecure: false)]), Latch())
    let bench = ScriptedClient({
      $0.cookies = .jar(jar)
      $0.credentials = account.map { FixedCredential(.bearer("t"), account: $0) }
      $0.admission = AdmissionLimits(perHost: 1, total: 1)
    }) { request in
      if request.url.path == "/first" { try await latch.wait() }
      return Self.echo(request)
    }
    async let first = bench.client.send(Get(path: "/first"))
    await latch.reached(1)
    async let second = bench.client.send(Get(cache: Self.kept))
    #expect(await eventually { bench.client.admission.waiting == 1 })
    jar.set(try Cookie("sid", "2", host: "h.example", isSecure: false))
    latch.open()
    let values = try await [first, second]
    #expect(values == ["sid=1", "sid=2"], "the request carries the cookies of the jar at its admission")
    jar.set(try Cookie("sid", "1", host: "h.example", isSecure: false))
    #expect(try await bench.client.send(Get(cache: Self.kept)) == "sid=1")
  }

  @Test func `response with cookies ignores cache targets`() async throws {
    let jar = CookieJar([try Cookie("sid", "1", host: "h.example", isSecure: false)])
    let bench = bench(.jar(jar))
    let other = Get(path: "/other", cache: Self.kept)
    _ = try await bench.client.send(Get(cache: Self.kept.stored(as: [other])))
    _ = try await bench.client.send(other)
    #expect(bench.transport.requests.count == 2)
  }

  @Test func `login during a farewell keeps new cookies`() async throws {
    let (jars, accounts, latch) = (CookieJars(), CredentialStore(), Latch())
    let bench = bench(.perAccount(jars)) { $0.credentials = accounts }
    try await accounts.login("ada", with: AccountCredential(.bearer("a")))
    _ = try await bench.client.send(Get(path: "/page?set=sid=old"))
    async let left = accounts.logout { try await latch.wait() }
    await latch.reached(1)
    try await accounts.login("ada", with: AccountCredential(.bearer("b")))
    #expect(
      try await bench.client.send(Get(path: "/page?set=sid=new")) == "", "the cookies of the old session are removed")
    latch.open()
    #expect(try await left)
    #expect(try await bench.client.send(Get()) == "sid=new")
  }

  @Test func `farewell after a new login has no cookies`() async throws {
    let (jars, accounts, latch) = (CookieJars(), CredentialStore(), Latch())
    let bench = bench(.perAccount(jars)) { $0.credentials = accounts }
    try await accounts.login("ada", with: AccountCredential(.bearer("a")))
    _ = try await bench.client.send(Get(path: "/page?set=sid=old"))
    async let left = accounts.logout {
      try await latch.wait()
      #expect(try await bench.client.send(Get(path: "/logout?set=sid=gone")) == "")
    }
    await latch.reached(1)
    try await accounts.login("ada", with: AccountCredential(.bearer("b")))
    _ = try await bench.client.send(Get(path: "/page?set=sid=new"))
    latch.open()
    #expect(try await left)
    #expect(bench.transport.requests.last?.fields[.authorization] == "Bearer a")
    #expect(try await bench.client.send(Get()) == "sid=new")
  }

  @Test func `farewell and a new login share no stored response`() async throws {
    let (accounts, latch) = (CredentialStore(), Latch())
    let bench = ScriptedClient({ $0.credentials = accounts }) { .text($0.fields[.authorization] ?? "") }
    @Sendable func page(_ path: RequestPath) async throws -> String {
      try await bench.client.send(Get(path: path, cache: Self.kept))
    }
    try await accounts.login("ada", with: AccountCredential(.bearer("a")))
    async let left = accounts.logout {
      try await latch.wait()
      for path in ["/one", "/two"] as [RequestPath] { #expect(try await page(path) == "Bearer a") }
    }
    await latch.reached(1)
    try await accounts.login("ada", with: AccountCredential(.bearer("b")))
    #expect(try await page("/one") == "Bearer b")
    latch.open()
    #expect(try await left)
    for path in ["/one", "/two"] as [RequestPath] { #expect(try await page(path) == "Bearer b") }
    #expect(bench.transport.requests.count == 4, "the new login's own response is still stored")
  }
}
