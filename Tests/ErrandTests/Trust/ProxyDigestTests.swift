import Errand
import ErrandHTTP
import ErrandTesting
import Foundation
import TestSupport
import Testing
import TransportChecks

/// Digest authentication to proxies (RFC 7616), over sockets. The proxies of the test script check the answers.
@Suite(.serialized) struct ProxyDigestTests {
  private static let doors = ["ERRAND_DOOR_DIGEST_PROXY", "ERRAND_DOOR_CLOSING_PROXY"]

  private static func proxy(_ door: String, _ password: String = "opensesame") throws -> TransportProxy {
    .url(try Servers.address(door), user: "ada", password: password)
  }

  @Test(arguments: TrustCarrier.allCases, doors)
  func `tunnels are authenticated`(carrier: TrustCarrier, door: String) async throws {
    let proxy = try Self.proxy(door)
    let transport = try TrustFixture.transport(carrier) { $0.proxy = proxy }
    for variable in ["ERRAND_DOOR_TLS", "ERRAND_DOOR_TLS_AGAIN", "ERRAND_NGINX_TLS", "ERRAND_NGINX_TLS_1_2"] {
      let response = try await TransportConformance.get(transport, Servers.address(variable) + "/200b")
      #expect(response.status == 200)
      #expect(!response.text.contains("Proxy-Authorization"))
    }
  }

  @Test(arguments: TrustCarrier.allCases, doors)
  func `plain requests are authenticated`(carrier: TrustCarrier, door: String) async throws {
    let proxy = try Self.proxy(door)
    let client = try TrustFixture.client("ERRAND_NGINX", carrier) { $0.proxy = proxy }
    for number in 1...8 {
      #expect(try await client.send(BytesProbe(path: "/200b?\(number)")).count == 200)
    }
  }

  @Test(arguments: TrustCarrier.allCases, doors)
  func `concurrent requests are authenticated`(carrier: TrustCarrier, door: String) async throws {
    let proxy = try Self.proxy(door)
    let transport = try TrustFixture.transport(carrier) { $0.proxy = proxy }
    let urls = try ["ERRAND_NGINX", "ERRAND_DOOR_TLS"].map { try Servers.address($0) + "/200b" }
    // A proxy that accepts each nonce once may ask a call for more answers than it gives, so the calls end either way.
    let isOnce = door == Self.doors[1]
    try await withThrowingTaskGroup(of: Void.self) { group in
      for url in urls + urls {
        group.addTask {
          do {
            let response = try await TransportConformance.get(transport, url)
            #expect(response.status == 200)
          } catch let failure as TransportFailure where isOnce {
            #expect(failure.kind == .proxyCredentials)
          }
        }
      }
      try await group.waitForAll()
    }
  }

  @Test(arguments: TrustCarrier.allCases, ["ERRAND_DOOR_TLS", "ERRAND_NGINX"])
  func `wrong password is reported`(carrier: TrustCarrier, variable: String) async throws {
    for door in Self.doors {
      let proxy = try Self.proxy(door, "wrong-word")
      let client = try TrustFixture.client(variable, carrier) { $0.proxy = proxy }
      for _ in 1...2 {
        let error = try await failure(client, BytesProbe(path: "/200b"))
        #expect(error.transportKind == .proxyCredentials && error.message.contains("`password`"), "\(error)")
        #expect(!"\(error) \(String(reflecting: error))".contains("wrong-word"))
      }
    }
  }

  // MARK: - What the proxy receives

  private static func challenge(_ nonce: String = "n1", _ extra: String = "") -> LoopbackAnswer {
    let digest = "Digest realm=\"door\", qop=\"auth\", algorithm=SHA-256, nonce=\"\(nonce)\"\(extra)"
    let fields = [LoopbackHeaders.Field("Proxy-Authenticate", "Basic realm=\"door\"")]
    return .status(
      407, fields: LoopbackHeaders(fields + [.init("Proxy-Authenticate", digest)]), body: "Credentials, please.")
  }

  private static func answer(_ request: RecordedRequest) -> AuthenticationChallenge? {
    request.headers["Proxy-Authorization"].flatMap { AuthenticationChallenge.all(in: [$0]).first }
  }

  private static func transport(_ carrier: TrustCarrier, _ server: LoopbackServer) throws -> any Transport {
    try carrier.transport { $0.proxy = .url(server.url, user: "ada", password: "opensesame") }
  }

  @Test(arguments: TrustCarrier.allCases) func `answer names method and target`(carrier: TrustCarrier) async throws {
    let server = try LoopbackServer { Self.answer($0) == nil ? Self.challenge() : .ok($0.bodyText) }
    let transport = try Self.transport(carrier, server)
    for number in 1...2 {
      #expect(try await TransportConformance.get(transport, "http://one.example/a?b=\(number)").status == 200)
    }
    let post = try HTTPRequest(method: .post, url: "http://two.example:8080", body: HTTPBody(Data("body".utf8)))
    #expect(try await transport.send(Exchange(request: post)).text == "body")
    #expect(server.requests.map { Self.answer($0)?["nc"] } == [nil, "00000001", "00000002", "00000003"])
    for request in server.requests.dropFirst() {
      let answer = try #require(Self.answer(request))
      #expect(answer.scheme == "digest" && answer["uri"] == request.target && answer["nonce"] == "n1")
      #expect(answer["qop"] == "auth" && answer["username"] == "ada" && answer["algorithm"] == "SHA-256")
    }
    #expect(server.requests.last?.target == "http://two.example:8080/")
  }

  @Test(arguments: TrustCarrier.allCases, ["http://one.example/", "https://one.example/"])
  func `bytes of a challenge are kept`(carrier: TrustCarrier, url: String) async throws {
    let server = try LoopbackServer { request in
      if request.head.firstRange(of: Array("Proxy-Authorization: Digest ".utf8)) != nil { return .status(403) }
      let head = Array("HTTP/1.1 407 No\r\nContent-Length: 0\r\nProxy-Authenticate: ".utf8)
      return LoopbackAnswer([.bytes(head + DigestChallengeTests.octets + [13, 10, 13, 10])])
    }
    let transport = try Self.transport(carrier, server)
    _ = try? await transport.send(Exchange(request: try HTTPRequest(url: url)))
    #expect(server.requests.count == 2)
    let head = try #require(server.requests.last).head
    for part in DigestChallengeTests.octetParts { #expect(head.firstRange(of: part) != nil) }
  }

  @Test(arguments: TrustCarrier.allCases) func `tunnel is asked for twice`(carrier: TrustCarrier) async throws {
    let server = try LoopbackServer { Self.answer($0) == nil ? Self.challenge() : .status(403) }
    let exchange = Exchange(request: try HTTPRequest(url: "https://one.example/secret"))
    let failure = await TransportConformance.failure(of: exchange, over: try Self.transport(carrier, server))
    #expect(failure?.kind == .proxy && failure?.description.contains("403") == true)
    #expect(failure?.isCertainlyNotSent == true)
    #expect(server.requests.map(\.target) == ["one.example:443", "one.example:443"])
    #expect(server.requests.map { Self.answer($0)?["uri"] } == [nil, "one.example:443"])
    if carrier == .engine { #expect(server.connectionCount == 1) }
  }

  @Test(arguments: TrustCarrier.allCases, ["http://one.example/", "https://one.example/"])
  func `proxy may close the connection`(carrier: TrustCarrier, url: String) async throws {
    let closings: [LoopbackAnswer] = [
      Self.challenge().closing(), Self.challenge().closed(), Self.challenge().setting("Content-Length", to: "9999999"),
      .raw("HTTP/1.0 407 No\r\nProxy-Authenticate: Digest realm=\"a\", nonce=\"b\"\r\n\r\nuntil the end"),
    ]
    for closing in closings {
      let server = try LoopbackServer { request in
        if Self.answer(request) != nil { return request.method == "CONNECT" ? .status(403) : .ok() }
        return closing.then(.close)
      }
      let transport = try Self.transport(carrier, server)
      let exchange = Exchange(request: try HTTPRequest(url: url))
      if url.hasPrefix("https") {
        let failure = await TransportConformance.failure(of: exchange, over: transport)
        #expect(failure?.kind == .proxy && failure?.description.contains("403") == true)
      } else {
        #expect(try await transport.send(exchange).status == 200)
      }
      #expect(server.requests.count == 2 && server.connectionCount == 2)
    }
  }

  @Test(arguments: TrustCarrier.allCases) func `stale nonce is replaced`(carrier: TrustCarrier) async throws {
    let server = try LoopbackServer { request in
      switch Self.answer(request)?["nonce"] {
      case nil: Self.challenge()
      case "n1": Self.challenge("n2", ", stale=true")
      default: .ok("welcome")
      }
    }
    let transport = try Self.transport(carrier, server)
    #expect(try await TransportConformance.get(transport, "http://one.example/").text == "welcome")
    #expect(try await TransportConformance.get(transport, "http://one.example/").text == "welcome")
    #expect(server.requests.map { Self.answer($0)?["nc"] } == [nil, "00000001", "00000001", "00000002"])
  }

  @Test(arguments: TrustCarrier.allCases, ["http://one.example/", "https://one.example/"])
  func `password is tried once`(carrier: TrustCarrier, url: String) async throws {
    let server = try LoopbackServer { Self.challenge("n\($0.number)") }
    let exchange = Exchange(request: try HTTPRequest(url: url))
    let failure = await TransportConformance.failure(of: exchange, over: try Self.transport(carrier, server))
    #expect(failure?.kind == .proxyCredentials && failure?.isCertainlyNotSent == true)
    #expect(server.requests.map { Self.answer($0) != nil } == [false, true])
  }

  @Test(arguments: TrustCarrier.allCases, ["http://one.example/", "https://one.example/"])
  func `challenges without end are refused`(carrier: TrustCarrier, url: String) async throws {
    let server = try LoopbackServer { Self.challenge("n\($0.number)", ", stale=true") }
    let exchange = Exchange(request: try HTTPRequest(url: url))
    let failure = await TransportConformance.failure(of: exchange, over: try Self.transport(carrier, server))
    #expect(failure?.kind == .proxyCredentials && server.requests.count == 3)
  }

  @Test(arguments: TrustCarrier.allCases) func `Basic is used alone`(carrier: TrustCarrier) async throws {
    let server = try LoopbackServer { request in
      Self.answer(request) == nil ? .status(407, fields: ["Proxy-Authenticate": "Basic realm=\"a\""]) : .ok()
    }
    let transport = try Self.transport(carrier, server)
    for _ in 1...2 { _ = try await TransportConformance.get(transport, "http://one.example/") }
    #expect(server.requests.map { Self.answer($0)?.scheme } == [nil, "basic", "basic"])
  }

  @Test(arguments: TrustCarrier.allCases) func `unknown schemes are named`(carrier: TrustCarrier) async throws {
    let server = try LoopbackServer { _ in .status(407, fields: ["Proxy-Authenticate": "Negotiate, NTLM"]) }
    let exchange = Exchange(request: try HTTPRequest(url: "http://one.example/"))
    let failure = await TransportConformance.failure(of: exchange, over: try Self.transport(carrier, server))
    #expect(failure?.kind == .proxyCredentials && server.requests.count == 1)
    #expect(failure?.description.contains("offers only the authentication negotiate, ntlm") == true)
  }

  @Test(arguments: TrustCarrier.allCases) func `status 407 of a server is a response`(carrier: TrustCarrier)
    async throws
  {
    let server = try LoopbackServer { _ in Self.challenge() }
    let response = try await TransportConformance.get(try carrier.transport(), server.url)
    #expect(response.status == 407 && response.text == "Credentials, please.")
  }

  // MARK: - Bodies

  private static func stream(_ log: PieceSource.Log) throws -> HTTPRequest {
    let body = HTTPBody.stream { PieceSource([.bytes(Array("once".utf8))], log, $0) { _ in } }
    return try HTTPRequest(method: .post, url: "http://one.example/", body: body)
  }

  /// The first request waits for status 100, which the proxy does not send.
  @Test(arguments: TrustCarrier.allCases) func `body that is read once is kept`(carrier: TrustCarrier) async throws {
    var options = LoopbackOptions()
    options.reception = { Self.answer($0) == nil ? .never : .automatic }
    let holds = try await withinTheSecond {
      let server = try LoopbackServer(options) { Self.answer($0) == nil ? Self.challenge() : .ok($0.bodyText) }
      let log = PieceSource.Log()
      let transport = try Self.transport(carrier, server)
      let first = try? await transport.send(Exchange(request: Self.stream(log))).text
      let (opened, expected) = (log.opened, server.requests.map { $0.headers["Expect"] })
      let second = try? await transport.send(Exchange(request: Self.stream(log))).text
      return first == "once" && opened == 1 && expected == ["100-continue", nil] && second == "once"
        && server.requests.count == 3
    }
    #expect(holds)
  }

  /// The proxy reads the body before it asks for credentials.
  @Test(arguments: TrustCarrier.allCases) func `used body is not sent again`(carrier: TrustCarrier) async throws {
    let server = try LoopbackServer { Self.answer($0) == nil ? Self.challenge() : .ok($0.bodyText) }
    let log = PieceSource.Log()
    let transport = try Self.transport(carrier, server)
    let failure = await TransportConformance.failure(of: Exchange(request: try Self.stream(log)), over: transport)
    #expect(failure?.kind == .proxyCredentials && server.requests.count == 1)
    #expect(try await transport.send(Exchange(request: Self.stream(log))).text == "once")
    #expect(server.requests.count == 2)
  }

  @Test(arguments: TrustCarrier.allCases) func `large body is sent again`(carrier: TrustCarrier) async throws {
    let server = try LoopbackServer { Self.answer($0) == nil ? Self.challenge() : .ok("\($0.bodyLength)") }
    let request = try HTTPRequest(
      method: .put, url: "http://one.example/", body: HTTPBody(Data(repeating: 7, count: 1 << 20)))
    let transport = try Self.transport(carrier, server)
    #expect(try await transport.send(Exchange(request: request)).text == "\(1 << 20)")
    #expect(server.requests.map(\.bodyLength) == [1 << 20, 1 << 20])
  }
}
