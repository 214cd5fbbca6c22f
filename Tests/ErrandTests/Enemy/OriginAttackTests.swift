import ErrandSupport
import Errand
@testable import ErrandCore
import ErrandTesting
import Foundation
import Testing

/// Secrets, accounts and bodies of calls over two real servers.
struct OriginAttackTests {
  private static let marker = "MARKER"

  /// Whether a request contains the marker anywhere, encoded or not.
  private static func shows(_ request: RecordedRequest) -> Bool {
    let basic = Data("user:\(marker)".utf8).base64EncodedString()
    let text = String(decoding: request.head, as: UTF8.self) + request.bodyText
    return text.contains(marker) || text.contains(basic)
  }

  @Test(arguments: [301, 302, 303, 307, 308]) func `redirect elsewhere carries no secret`(status: Int) async throws {
    let second = try LoopbackServer { _ in .ok("there") }
    let first = try LoopbackServer { [url = second.url] request in
      switch request.path {
      case "/p": .redirect(to: "/same", status: status)
      default: .redirect(to: url.replacing("://", with: "://user:\(Self.marker)@") + "/away", status: status)
      }
    }
    let client = APIClient(baseURL: first.url)
    client.configure {
      $0.headers = ["X-Api-Key": .secret(Self.marker), "Cookie": "sid=\(Self.marker)"]
      $0.interceptors.exchanges = [Signing { $0.fields["X-Signature"] = Self.marker }]
    }
    let requests = [
      Ask<String>(credential: .basic(user: "user", password: Self.marker)), Ask(credential: .bearer(Self.marker)),
      Ask(headers: ["Proxy-Authorization": .text(Self.marker)]),
      Ask(headers: ["authorization": .text(Self.marker), "cookie": .text(Self.marker)]),
    ]
    for request in requests { #expect(try await client.send(request) == "there") }
    client.configure { $0.credentials = FixedCredential(.bearer(Self.marker)) }
    #expect(try await client.send(Ask<String>()) == "there")
    #expect(first.requests.count == 10 && first.requests.allSatisfy(Self.shows))
    #expect(second.requests.count == 5 && !second.requests.contains(where: Self.shows))
    #expect(second.requests.allSatisfy { $0.headers["X-Signature"] == nil && $0.headers["Authorization"] == nil })
  }

  private func change(_ configuration: inout ClientConfiguration) {
    configuration.headers = [
      "X-Api-Key": .secret(Self.marker), "Cookie": "sid=\(Self.marker)", "X-Client": "app",
    ]
    configuration.credentials = FixedCredential(.bearer(Self.marker))
    configuration.interceptors.exchanges = [Signing { $0.fields["X-Signature"] = Self.marker }]
  }

  private func family(baseURL: String? = nil, cdnURL: String? = nil) -> RequestFamily {
    RequestFamily(
      "f", baseURL: baseURL, cdnURL: cdnURL, headers: ["X-Family-Key": .secret(Self.marker), "X-Family": "f"])
  }

  @Test func `link elsewhere carries no secret`() async throws {
    let second = try LoopbackServer { _ in .ok("there") }
    let first = try LoopbackServer { [url = second.url] _ in .ok(url + "/next") }
    let client = APIClient(baseURL: first.url)
    client.configure(change)
    let link = try await client.send(Ask<String>(family: family()))
    #expect(try await client.send(Ask<String>(path: RequestPath(link), family: family())) == "there")
    #expect(first.requests.count == 1 && first.requests.allSatisfy(Self.shows))
    let stranger = try #require(second.requests.first)
    #expect(!Self.shows(stranger) && stranger.headers["X-Signature"] == nil && stranger.headers["X-Api-Key"] == nil)
    #expect(
      stranger.headers["X-Client"] == "app" && stranger.headers["X-Family"] == "f", "headers without secrets are sent")
    let own = Ask<String>(path: RequestPath(link), family: family(), headers: ["X-Api-Key": .secret("own")])
    #expect(try await client.send(own) == "there")
    #expect(second.requests.last?.headers["X-Api-Key"] == "own", "a secret of the request itself is sent to its URL")
    #expect(second.requests.count == 2 && !second.requests.contains(where: Self.shows))
  }

  @Test(arguments: [
    ("http://h.example", true), ("http://cdn.example", true), ("http://two.example", true),
    ("http://reports.example", true), ("http://family.example", true), ("http://pictures.example", true),
    ("https://h.example", false), ("http://h.example:81", false), ("http://other.example", false),
  ]) func `secrets are sent only to named servers`(url: String, isNamed: Bool) async throws {
    let bench = ScriptedClient(cdnURL: "http://cdn.example/x") { configuration in
      change(&configuration)
      configuration.servers.current.fallbackURLs = ["http://two.example/v2"]
      configuration.servers.others = [ServerEnvironment("reports", baseURL: "http://reports.example/")]
    }
    let family = family(baseURL: "http://family.example/f", cdnURL: "http://pictures.example")
    let sent = try #require(try await bench.sent(Sending(path: RequestPath(url + "/q"), family: family)))
    #expect(sent.url.string == url + "/q")
    for name: HTTPFieldName in ["X-Api-Key", "Cookie", "X-Family-Key", "X-Signature"] {
      #expect((sent.fields[name] != nil) == isNamed, "\(name)")
    }
    #expect(sent.fields["X-Client"] == "app")
  }

  /// A server sends the fields of a TRACE request back in the body of its response (RFC 9110 section 9.3.8).
  @Test func `TRACE carries no stored secret`() async throws {
    let jar = CookieJar([try Cookie("sid", Self.marker, host: "h.example", isSecure: false)])
    let bench = ScriptedClient {
      $0.headers = ["X-Api-Key": .secret(Self.marker), "X-Client": "app"]
      $0.credentials = FixedCredential(.bearer(Self.marker))
      $0.cookies = .jar(jar)
    }
    for method: HTTPMethod in ["TRACE", "GET"] {
      let sent = try #require(try await bench.sent(Sending(method: method, family: family())))
      for name: HTTPFieldName in ["Authorization", "Cookie", "X-Api-Key", "X-Family-Key"] {
        #expect((sent.fields[name] == nil) == (method == "TRACE"), "\(method) \(name)")
      }
      #expect(sent.fields["X-Client"] == "app" && sent.fields["X-Family"] == "f")
    }
    let own = Sending(method: "TRACE", headers: ["X-Api-Key": .secret("own")], credential: .bearer("own"))
    let sent = try #require(try await bench.sent(own))
    #expect(sent.fields["X-Api-Key"] == "own" && sent.fields[.authorization] == "Bearer own")
  }

  @Test func `signature is sent to allowed origins`() async throws {
    let bench = ScriptedClient {
      $0.interceptors.exchanges = [Signing(alsoAt: ["http://s.example/a"]) { $0.fields["X-Signature"] = "signed" }]
    }
    for url in ["http://s.example/q", "http://t.example/q"] {
      _ = try await bench.sent(Sending(path: RequestPath(url)))
    }
    #expect(bench.transport.requests.map { $0.fields["X-Signature"] } == ["signed", nil])
    bench.client.configure { $0.interceptors.exchanges = [Signing(alsoAt: ["nowhere"]) { _ in }] }
    #expect(await bench.failure(of: Sending())?.code == .invalidURL)
  }

  @Test(arguments: [307, 308]) func `redirected body needs permission elsewhere`(status: Int) async throws {
    let second = try LoopbackServer { .ok($0.bodyText) }
    let first = try LoopbackServer { [url = second.url] request in
      request.path == "/p" ? .redirect(to: "/same", status: status) : .redirect(to: url + "/away", status: status)
    }
    let client = APIClient(baseURL: first.url)
    var request = Ask<String>(method: .post, body: .text("body"))
    #expect(await client.outcome(of: request).error?.code == .redirectRefused)
    #expect(second.requests.isEmpty && first.requests.map(\.bodyText) == ["body", "body"])
    request.redirects = .follow(resendsBodyElsewhere: true)
    #expect(try await client.send(request) == "body")
  }

  private final class Session: CredentialProvider {
    let name: Locked<String>
    let latch = Latch()

    init(_ name: String) { self.name = Locked(name) }

    var account: String? { name.withLock { $0 } }

    func credential(for account: String?) async throws -> Credential? {
      try await latch.wait()
      return .bearer("of-\(account ?? "nobody")")
    }
  }

  @Test func `call keeps the account of its start`() async throws {
    let server = try LoopbackServer { $0.path == "/p" ? .redirect(to: "/q") : .ok($0.headers["Authorization"] ?? "") }
    let session = Session("ada")
    let client = APIClient(baseURL: server.url)
    client.configure { $0.credentials = session }
    async let early = client.send(Ask<String>())
    await session.latch.reached()
    session.name.withLock { $0 = "eve" }
    async let late = client.send(Ask<String>())
    await session.latch.reached(2)
    session.name.withLock { $0 = "nobody at all" }
    session.latch.open()
    #expect(try await early == "Bearer of-ada")
    #expect(try await late == "Bearer of-eve")
    #expect(server.requests.compactMap { $0.headers["Authorization"] }.count { $0 == "Bearer of-ada" } == 2)
  }

  @Test func `two clients keep their accounts separate`() async throws {
    let server = try LoopbackServer { .ok($0.headers["Authorization"] ?? "none") }
    let clients = ["ada", "eve"].map { name in
      let client = APIClient(baseURL: server.url)
      client.configure { $0.credentials = FixedCredential(.bearer(name), account: name) }
      return (client, name)
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for round in 0..<200 {
        let (client, name) = clients[round % 2]
        group.addTask {
          let value = try await client.send(Ask<String>())
          #expect(value == "Bearer \(name)")
        }
      }
      try await group.waitForAll()
    }
  }

  @Test func `concurrent exchanges keep the call's credential`() async throws {
    let isHeld = Latch()
    let bench = ScriptedClient(
      {
        $0.interceptors.calls = [
          Around { request, _, next in
            async let first = next(request)
            await isHeld.reached()
            var other = request
            other.url = try HTTPURL("http://other.example/p")
            let second = try await next(other)
            isHeld.open()
            #expect(second.status == 200)
            return try await first
          }
        ]
      },
      answer: { request in
        guard request.url.host == "h.example", request.url.path == "/p" else { return .text("end") }
        try await isHeld.wait()
        return .redirect(to: "/q")
      })
    _ = try await bench.client.send(Ask<String>(credential: .bearer("own")))
    #expect(bench.transport.requests.map(\.url.path) == ["/p", "/p", "/q"])
    #expect(bench.transport.requests.map { $0.fields[.authorization] } == Array(repeating: "Bearer own", count: 3))
  }
}
