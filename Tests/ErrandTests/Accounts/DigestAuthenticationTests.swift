import Errand
import ErrandCache
import ErrandChecksum
@testable import ErrandCore
import ErrandTesting
import Foundation
import Testing
import TestSupport
import TransportChecks

/// Calls to a server with Digest authentication (RFC 7616).
struct DigestAuthenticationTests {
  /// A new interceptor, which has no session of another test.
  private static var digesting: DigestAuthentication {
    DigestAuthentication(user: "Mufasa", password: "Circle of Life", algorithms: [.sha256, .md5]) {
      DigestChallengeTests.clientNonce
    }
  }

  private static func challenge(_ extra: String = "") -> HTTPFields {
    HTTPFields(DigestChallengeTests.lines.map { HTTPField("WWW-Authenticate", $0 + extra) })
  }

  private func bench(
    _ digesting: DigestAuthentication = Self.digesting, answer: @escaping @Sendable (HTTPRequest) -> ScriptedAnswer
  ) -> ScriptedClient {
    ScriptedClient({ $0.interceptors.exchanges.append(digesting) }) { answer($0) }
  }

  @Test(arguments: Carrier.allCases) func `challenge is answered`(carrier: Carrier) async throws {
    let server = try LoopbackServer { request in
      guard let answer = request.headers["Authorization"] else {
        let fields = DigestChallengeTests.lines.map { LoopbackHeaders.Field("WWW-Authenticate", $0) }
        return .status(401, fields: LoopbackHeaders(fields))
      }
      return answer.contains("753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1")
        || answer.contains("nc=00000002")
        ? .ok("welcome") : .status(401)
    }
    defer { server.stop() }
    let transport = carrier.transport()
    let client = transport.client(at: server) { $0.interceptors.exchanges.append(Self.digesting) }
    #expect(try await client.send(Ask<String>(path: "/dir/index.html")) == "welcome")
    #expect(try await client.send(Ask<String>(path: "/dir/index.html?a=b")) == "welcome")
    #expect(server.requests.map { $0.headers["Authorization"] == nil } == [true, false, false])
    let last = server.requests.last?.headers["Authorization"] ?? ""
    #expect(last.contains("uri=\"/dir/index.html?a=b\"") && last.contains("nc=00000002"))
    transport.expectToHaveCarriedAll(of: server)
  }

  @Test(arguments: Carrier.allCases)
  func `bytes of a challenge are kept`(carrier: Carrier) async throws {
    let server = try LoopbackServer { request in
      if request.head.firstRange(of: Array(DigestChallengeTests.octetResponse.utf8)) != nil { return .ok("welcome") }
      let head = Array("HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\nWWW-Authenticate: ".utf8)
      return LoopbackAnswer([.bytes(head + DigestChallengeTests.octets + [13, 10, 13, 10])])
    }
    defer { server.stop() }
    let client = carrier.transport().client(at: server) { $0.interceptors.exchanges.append(Self.digesting) }
    #expect(try await client.send(Ask<String>(path: "/dir/index.html")) == "welcome")
    let head = try #require(server.requests.last).head
    for part in DigestChallengeTests.octetParts { #expect(head.firstRange(of: part) != nil) }
  }

  @Test func `wrong password ends with 401`() async {
    let bench = bench { _ in .status(401, fields: Self.challenge()) }
    for count in [2, 3, 5] {
      let error = await bench.failure(of: Sending())
      #expect(error?.status == 401 && bench.transport.requests.count == count)
      #expect("\(String(describing: error)) \(String(reflecting: error?.request))".contains("response=") == false)
    }
  }

  @Test func `TRACE gets no answer`() async {
    let bench = bench { _ in .status(401, fields: Self.challenge()) }
    #expect(await bench.failure(of: Sending(method: "TRACE"))?.status == 401)
    #expect(bench.transport.requests.map { $0.fields[.authorization] } == [nil])
  }

  @Test func `stale nonce is replaced`() async throws {
    let bench = bench { request in
      let answer = request.fields[.authorization]
      if answer?.contains("nonce=\"new\"") == true { return .text("welcome") }
      if answer?.contains("nc=00000001") == true { return .text("first") }
      let stale = "Digest realm=\"http-auth@example.org\", nonce=\"new\", qop=auth, stale=TRUE, algorithm=SHA-256"
      return .status(401, fields: answer == nil ? Self.challenge() : ["WWW-Authenticate": stale])
    }
    #expect(try await bench.client.send(Ask<String>()) == "first")
    #expect(try await bench.client.send(Ask<String>()) == "welcome")
    #expect(bench.transport.requests.count == 4)
  }

  @Test func `restarted server gets a new answer`() async throws {
    let bench = bench { request in
      let answer = request.fields[.authorization]
      if answer?.contains("nonce=\"new\"") == true { return .text("welcome") }
      if answer?.contains("nc=00000001") == true { return .text("first") }
      let other = "Digest realm=\"http-auth@example.org\", nonce=\"new\", qop=auth, algorithm=SHA-256"
      return .status(401, fields: answer == nil ? Self.challenge() : ["WWW-Authenticate": other])
    }
    #expect(try await bench.client.send(Ask<String>()) == "first")
    #expect(try await bench.client.send(Ask<String>()) == "welcome")
    #expect(bench.transport.requests.count == 4)
  }

  @Test func `body is sent again`() async throws {
    let bench = bench { $0.fields.contains(.authorization) ? .text("done") : .status(401, fields: Self.challenge()) }
    let request = Ask<String>(method: .post, body: .text("payment"))
    #expect(try await bench.client.send(request) == "done")
    #expect(bench.transport.requests.map(\.text) == ["payment", "payment"])
    #expect(bench.transport.requests.last?.fields[.authorization]?.contains("uri=\"/p\"") == true)
  }

  @Test func `challenge to a body that is read once is learned`() async throws {
    let bench = bench { request in
      let answer = request.fields[.authorization]
      if answer?.contains("nonce=\"new\"") == true { return .text("third") }
      if answer?.contains("nc=00000001") == true { return .text("second") }
      let stale = "Digest realm=\"http-auth@example.org\", nonce=\"new\", qop=auth, stale=true, algorithm=SHA-256"
      return .status(401, fields: answer == nil ? Self.challenge() : ["WWW-Authenticate": stale])
    }
    func upload() -> Ask<String> {
      Ask(method: .post, body: PieceSource.body([.bytes([1])], isReplayable: false))
    }
    #expect(await bench.failure(of: upload())?.status == 401)
    #expect(try await bench.client.send(upload()) == "second")
    #expect(await bench.failure(of: upload())?.status == 401)
    #expect(try await bench.client.send(upload()) == "third")
    #expect(bench.transport.requests.count == 4)
  }

  @Test func `calls that share a nonce are counted together`() async throws {
    let latch = Latch()
    let used = Recorded<String>()
    let digesting = DigestAuthentication(user: "a", password: "b", algorithms: [.sha256, .md5])
    let client = ScriptedClient({ $0.interceptors.exchanges.append(digesting) }) { request in
      guard let answer = request.fields[.authorization] else {
        try await latch.wait()
        return .status(401, fields: Self.challenge())
      }
      let count = answer.firstMatch(of: /nc=(\w+)/).map { String($0.1) } ?? ""
      defer { used.append(count) }
      return used.all.contains(count) ? .status(401, fields: Self.challenge()) : .text("welcome")
    }.client
    let calls = ["/a", "/b"].map { path in Task { try await client.send(Ask<String>(path: RequestPath(path))) } }
    #expect(await eventually { latch.arrivals == 2 })
    latch.open()
    for call in calls { #expect(try await call.value == "welcome") }
    #expect(used.all.sorted() == ["00000001", "00000002"])
  }

  @Test(arguments: ["algorithm=MD5", "algorithm=MD5, qop=auth", "algorithm=SHA-256"])
  func `weaker challenge after a success is not answered`(protection: String) async throws {
    let bench = bench { request in
      let answer = request.fields[.authorization]
      if answer?.contains("nc=00000001") == true { return .text("welcome") }
      let weak = "Digest realm=\"http-auth@example.org\", nonce=\"new\", stale=true, \(protection)"
      return .status(401, fields: answer == nil ? Self.challenge() : ["WWW-Authenticate": weak])
    }
    #expect(try await bench.client.send(Ask<String>()) == "welcome")
    for _ in 0..<2 { #expect(await bench.failure(of: Ask<String>())?.status == 401) }
    #expect(bench.transport.requests.count == 4)
  }

  @Test func `refused session keeps the protection accepted before`() async throws {
    let isForged = Recorded<Bool>()
    let bench = bench { request in
      if !isForged.all.isEmpty { return .status(401, fields: ["WWW-Authenticate": "Digest realm=\"x\", nonce=\"n4\""]) }
      let answer = request.fields[.authorization]
      if answer?.contains("nonce=\"n2\"") != true, answer?.contains("nc=00000001") == true { return .text("welcome") }
      let next = answer?.contains("nonce=\"n2\"") == true ? "n3" : "n2"
      let strong = "Digest realm=\"http-auth@example.org\", nonce=\"\(next)\", qop=auth, algorithm=SHA-256"
      return .status(401, fields: answer == nil ? Self.challenge() : ["WWW-Authenticate": strong])
    }
    #expect(try await bench.client.send(Ask<String>()) == "welcome")
    for _ in 0..<2 { #expect(await bench.failure(of: Ask<String>())?.status == 401) }
    let sent = bench.transport.requests.count
    isForged.append(true)
    #expect(await bench.failure(of: Ask<String>())?.status == 401)
    #expect(bench.transport.requests[sent...].allSatisfy { !$0.fields.contains(.authorization) })
  }

  @Test func `other servers get no answer`() async {
    let bench = bench { request in
      request.url.host == "h.example" ? .redirect(to: "http://other.example/p") : .status(401, fields: Self.challenge())
    }
    #expect(await bench.failure(of: Sending())?.status == 401)
    #expect(await bench.failure(of: Sending(path: "http://third.example/p"))?.status == 401)
    #expect(bench.transport.requests.allSatisfy { !$0.fields.contains(.authorization) })
    #expect(bench.transport.requests.count == 3)
  }

  @Test func `own Authorization is kept`() async {
    let bench = bench { _ in .status(401, fields: Self.challenge()) }
    _ = await bench.failure(of: Sending(credential: .bearer("token")))
    #expect(bench.transport.requests.map { $0.fields[.authorization] } == ["Bearer token"])
  }

  @Test func `MD5 can be excluded`() async {
    let fields = HTTPFields([HTTPField("WWW-Authenticate", DigestChallengeTests.lines[1])])
    let bench = bench(DigestAuthentication(user: "a", password: "b", allowsMD5: false)) { _ in
      .status(401, fields: fields)
    }
    #expect(await bench.failure(of: Sending())?.status == 401)
    #expect(bench.transport.requests.count == 1)
  }

  @Test func `dump shows no password`() {
    var text = ""
    dump(Self.digesting, to: &text)
    #expect(!"\(Self.digesting) \(String(reflecting: Self.digesting)) \(text)".contains("Circle"))
  }
}
