import Errand
import ErrandCache
import ErrandTesting
import Foundation
import Testing

/// Faults for which the client has a rule, over a real socket. The next request to the same origin must succeed.
struct FaultSocketTests {
  private func server(_ answer: @escaping @Sendable (RecordedRequest) -> LoopbackAnswer) throws -> LoopbackServer {
    try LoopbackServer { $0.path == "/next" ? .ok("right") : answer($0) }
  }

  /// The result of a call, after a second call to the same server.
  private func outcome<Response>(
    of request: Ask<Response>, at server: LoopbackServer, _ carrier: Carrier
  ) async throws -> Outcome<Response> {
    let transport = carrier.transport()
    let client = transport.client(at: server)
    let outcome = await client.outcome(of: request)
    #expect(try await client.send(Ask<String>(path: "/next")) == "right")
    transport.expectToHaveCarriedAll(of: server)
    return outcome
  }

  // MARK: - Head

  @Test(arguments: ["HTTP/1.1 200", "HTTP/1.1 200 "], Carrier.allCases)
  func `missing reason phrase is accepted`(line: String, carrier: Carrier) async throws {
    let server = try server { _ in .raw("\(line)\r\nContent-Length: 4\r\n\r\nbody", thenCloses: false) }
    let outcome = try await outcome(of: Ask<String>(), at: server, carrier)
    #expect(outcome.value == "body" && outcome.response?.head.reason == "")
  }

  @Test(arguments: Carrier.allCases)
  func `Latin-1 in the header is decoded`(carrier: Carrier) async throws {
    let head = "HTTP/1.1 200 Trouv\u{E9}\r\nX-Name: caf\u{E9} \u{FC}\r\nContent-Length: 4\r\n\r\nbody"
    let bytes = head.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
    let server = try server { _ in .raw(bytes, thenCloses: false) }
    let outcome = try await outcome(of: Ask<String>(), at: server, carrier)
    #expect(outcome.value == "body" && outcome.response?.head.reason == "Trouv\u{E9}")
    #expect(outcome.response?.fields["X-Name"] == "caf\u{E9} \u{FC}")
  }

  // MARK: - Redirects

  @Test(arguments: Carrier.allCases)
  func `redirect loop ends`(carrier: Carrier) async throws {
    let server = try server { .redirect(to: $0.path == "/p" ? "/q" : "/p") }
    #expect(try await outcome(of: Ask<String>(), at: server, carrier).error?.code == .redirectLoop)
    #expect(server.requests.map(\.path) == ["/p", "/q", "/p", "/q", "/next"])
  }

  @Test(
    arguments: [nil, "", "ftp://127.0.0.1/", "file:///etc/passwd", "data:,x", "http://", "http://127.0.0.1:0/"],
    Carrier.allCases)
  func `unusable Location fails`(location: String?, carrier: Carrier) async throws {
    let server = try server { _ in .redirect(to: location) }
    let error = try await outcome(of: Ask<String>(), at: server, carrier).error
    // An empty Location refers to the page itself, which is requested once more.
    #expect(error?.code == (location == "" ? .redirectLoop : .invalidRedirect) && error?.response?.status == 302)
    #expect(server.requests.map(\.path) == (location == "" ? ["/p", "/p", "/next"] : ["/p", "/next"]))
  }

  @Test(arguments: Carrier.allCases)
  func `bytes of a Location are kept`(carrier: Carrier) async throws {
    let server = try LoopbackServer { request in
      guard request.path == "/p" else { return .ok(request.target) }
      let location: [UInt8] = Array("/caf".utf8) + [0xE9] + Array("/\u{e9}?\u{e9}".utf8)
      let head = Array("HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: ".utf8)
      return LoopbackAnswer([.bytes(head + location + [13, 10, 13, 10])])
    }
    let transport = carrier.transport()
    let client = transport.client(at: server)
    #expect(try await client.send(Ask<String>()) == "/caf%E9/%C3%A9?%C3%A9")
    transport.expectToHaveCarriedAll(of: server)
  }

  @Test(arguments: Carrier.allCases)
  func `Location of a new resource keeps its bytes`(carrier: Carrier) async throws {
    let server = try LoopbackServer { request in
      guard request.path == "/p" else { return .ok(request.target) }
      let head = Array("HTTP/1.1 201 Created\r\nContent-Length: 0\r\nLocation: caf".utf8)
      return LoopbackAnswer([.bytes(head + [0xE9, 13, 10, 13, 10])])
    }
    let transport = carrier.transport()
    let client = transport.client(at: server)
    let created = try await client.response(Ask<Nothing>())
    let location = try #require(created.raw.location)
    #expect(location.string == server.url + "/caf%E9" && created.fields[.location] == "caf%E9")
    #expect(try await client.send(Ask<String>(path: RequestPath(location.string))) == "/caf%E9")
    transport.expectToHaveCarriedAll(of: server)
  }

  @Test(arguments: [nil, "ftp://h/", "http://h:0/"]) func `unusable Location has no URL`(text: String?) async throws {
    let server = try LoopbackServer { _ in .status(201).setting("Location", to: text) }
    let client = APIClient(baseURL: server.url)
    #expect(try await client.response(Ask<Nothing>()).raw.location == nil)
  }

  @Test func `different Locations have no URL`() async throws {
    let server = try LoopbackServer { request in
      .status(201).adding("Location", "/a").adding("Location", request.path == "/same" ? "/a" : "/b")
    }
    let client = APIClient(baseURL: server.url)
    #expect(try await client.response(Ask<Nothing>()).raw.location == nil)
    #expect(try await client.response(Ask<Nothing>(path: "/same")).raw.location?.path == "/a")
  }

  /// The app reads the tag of a response and sends it in the condition of its next request. The stored response comes
  /// from memory or from disk.
  @Test(arguments: ["If-Match", "If-None-Match"], Carrier.allCases)
  func `bytes of a tag that the app sends are kept`(name: String, carrier: Carrier) async throws {
    let tag: [UInt8] = [0x22, 0xE9, 0x22]
    let server = try LoopbackServer { request in
      let head = Array("HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: 2\r\nETag: ".utf8)
      return LoopbackAnswer([.bytes(head + tag + Array("\r\n\r\nok".utf8))])
    }
    let transport = carrier.transport()
    let client = transport.client(at: server, Self.caching)
    for _ in 0..<2 {
      let read = try #require(try await client.response(Ask<String>()).fields[.eTag])
      var change = Ask<Nothing>(path: "/other", method: .put)
      change.headers.set(HTTPFieldName(name), .text(read))
      _ = try await client.send(change)
      let sent = try #require(server.requests.last).head
      #expect(sent.firstRange(of: Array("\(name): ".utf8) + tag + [13, 10]) != nil)
    }
    #expect(server.requests.map(\.path) == ["/p", "/other", "/other"])
    transport.expectToHaveCarriedAll(of: server)
  }

  @Test(arguments: Carrier.allCases)
  func `bytes of a Link are kept`(carrier: Carrier) async throws {
    let server = try LoopbackServer { _ in
      let head = Array("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nLink: </caf".utf8) + [0xE9]
      return LoopbackAnswer([.bytes(head + Array(">; rel=next\r\n\r\n".utf8))])
    }
    let transport = carrier.transport()
    let response = try await transport.client(at: server).response(Ask<String>())
    #expect(response.raw.link("next") == server.url + "/caf%E9")
    transport.expectToHaveCarriedAll(of: server)
  }

  private static func caching(_ configuration: inout ClientConfiguration) {
    configuration.cache.store = .own(ResponseCache(store: MemoryStore()))
    configuration.cache.policy = .http
  }

  @Test(arguments: Carrier.allCases)
  func `bytes of cookies are kept`(carrier: Carrier) async throws {
    // GBK, ISO 8859-1, UTF-8, and UTF-8 of the scalars that represent single bytes.
    let values: [[UInt8]] = [[0xD6, 0xD0], [0x63, 0xE9], Array("\u{e9}".utf8), Array("\u{f7e9}".utf8)]
    let server = try LoopbackServer { _ in
      let lines = values.enumerated().flatMap { Array("Set-Cookie: c\($0)=".utf8) + $1 + [13, 10] as [UInt8] }
      return LoopbackAnswer([.bytes(Array("HTTP/1.1 204 No Content\r\n".utf8) + lines + [13, 10])])
    }
    let transport = carrier.transport()
    let first = CookieJar()
    _ = try await transport.client(at: server) { $0.cookies = .jar(first) }.send(Ask<Nothing>())
    let saved = try JSONEncoder().encode(first.cookies(for: HTTPURL(server.url)))
    let second = CookieJar(try JSONDecoder().decode([Cookie].self, from: saved))
    _ = try await transport.client(at: server) { $0.cookies = .jar(second) }.send(Ask<Nothing>())
    let line = values.enumerated().map { Array("c\($0)=".utf8) + $1 }.joined(separator: Array("; ".utf8))
    #expect(server.requests.last?.head.firstRange(of: Array("Cookie: ".utf8) + line + [13, 10]) != nil)
    transport.expectToHaveCarriedAll(of: server)
  }

  @Test(arguments: Carrier.allCases)
  func `bytes of entity tags are kept`(carrier: Carrier) async throws {
    let tag: [UInt8] = [0x22, 0xE9, 0x22]
    let server = try LoopbackServer { request in
      let isKnown = request.head.firstRange(of: Array("If-None-Match: ".utf8) + tag + [13, 10]) != nil
      let fields = Array("Cache-Control: no-cache\r\nETag: ".utf8) + tag + [13, 10]
      let rest = isKnown ? Array("\r\n".utf8) : Array("Content-Length: 2\r\n\r\nok".utf8)
      let line = isKnown ? "HTTP/1.1 304 Not Modified\r\n" : "HTTP/1.1 200 OK\r\n"
      return LoopbackAnswer([.bytes(Array(line.utf8) + fields + rest)])
    }
    let transport = carrier.transport()
    let client = transport.client(at: server, Self.caching)
    for _ in 0..<3 { #expect(try await client.send(Ask<String>()) == "ok") }
    #expect(server.requests.map { $0.headers["If-None-Match"] != nil } == [false, true, true])
    transport.expectToHaveCarriedAll(of: server)
  }

  @Test(arguments: Carrier.allCases)
  func `tag beyond ASCII resumes a download`(carrier: Carrier) async throws {
    let tag: [UInt8] = [0x22, 0xE9, 0x22]
    let server = try LoopbackServer { request in
      let fields = Array("Content-Type: a/b\r\nETag: ".utf8) + tag + Array("\r\n\r\n".utf8)
      let isRest =
        request.headers["Range"] == "bytes=2-"
        && request.head.firstRange(of: Array("If-Range: ".utf8) + tag + [13, 10]) != nil
      let line = isRest ? "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 2-3/4\r\n" : "HTTP/1.1 200 OK\r\n"
      let head = Array("\(line)Content-Length: \(isRest ? 2 : 4)\r\n".utf8) + fields
      return LoopbackAnswer([.bytes(head + Array((isRest ? "cd" : "ab").utf8)), .close])
    }
    let folder = URL.temporaryDirectory.appending(path: "errand-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(at: folder) }
    let transport = carrier.transport()
    let file = try await transport.client(at: server).send(FileDownload("/film", .to(folder.appending(path: "film"))))
    #expect(try Data(contentsOf: file.url) == Data("abcd".utf8) && server.requests.count == 2)
    transport.expectToHaveCarriedAll(of: server)
  }

  @Test(arguments: Carrier.allCases)
  func `stored redirect keeps its bytes`(carrier: Carrier) async throws {
    let server = try LoopbackServer { request in
      guard request.path == "/p" else { return .ok(request.target) }
      let head = Array("HTTP/1.1 301 Moved\r\nCache-Control: max-age=60\r\nContent-Length: 0\r\nLocation: /caf".utf8)
      return LoopbackAnswer([.bytes(head + [0xE9, 13, 10, 13, 10])])
    }
    let transport = carrier.transport()
    let client = transport.client(at: server, Self.caching)
    for _ in 0..<2 { #expect(try await client.send(Ask<String>()) == "/caf%E9") }
    #expect(server.requests.map(\.path) == ["/p", "/caf%E9", "/caf%E9"])
    transport.expectToHaveCarriedAll(of: server)
  }

  // MARK: - Content

  @Test(
    arguments: [
      ([0xFF, 0x41], "text/plain; charset=utf-8"), ([0xD6, 0xD0], "text/plain"), ([0xD6], "text/html; charset=gbk"),
      ([0x4E], "text/plain; charset=utf-16"), ([0x41], "text/plain; charset=klingon"),
    ] as [([UInt8], String)], Carrier.allCases)
  func `bytes of another charset fail to decode`(sample: ([UInt8], String), carrier: Carrier) async throws {
    let (bytes, contentType) = sample
    let server = try server { _ in .data(bytes, contentType: contentType) }
    let error = try await outcome(of: Ask<String>(), at: server, carrier).error
    #expect(error?.stage == .decode && error?.code == .decoding && error?.response?.body == Data(bytes))
  }

  @Test(
    arguments: [
      ([0xEF, 0xBB, 0xBF, 0xC3, 0xA9], "text/plain; charset=gbk", "é"), ([0xFF, 0xFE, 0x2D, 0x4E], "text/plain", "中"),
      ([0xFE, 0xFF, 0x4E, 0x2D], "text/plain; charset=utf-16", "中"),
    ] as [([UInt8], String, String)], Carrier.allCases)
  func `byte order mark is respected`(sample: ([UInt8], String, String), carrier: Carrier) async throws {
    let (bytes, contentType, text) = sample
    let server = try server { _ in .data(bytes, contentType: contentType) }
    #expect(try await outcome(of: Ask<String>(), at: server, carrier).value == text)
  }

  // MARK: - Outbound

  @Test(arguments: Carrier.allCases)
  func `smuggled text never reaches the wire`(carrier: Carrier) async throws {
    let server = try server { _ in .ok() }
    let transport = carrier.transport()
    let client = transport.client(at: server)
    for text in RefusalTests.breaks {
      for request in [
        Sending(path: RequestPath("/a" + text)), Sending(path: RequestPath("/a?b=" + text)),
        Sending(path: RequestPath("http://h" + text + "/")), Sending(method: HTTPMethod("GET" + text)),
        Sending(headers: [HTTPFieldName("X" + text): "v"]), Sending(headers: ["X-Name": .text("a" + text)]),
      ] {
        #expect(await client.outcome(of: request).error?.stage == .build, "\(text.debugDescription)")
      }
    }
    for field in RefusalTests.unsendable {
      client.configure { $0.interceptors.exchanges = [RefusalTests.Adding(field: field)] }
      #expect(await client.outcome(of: Sending()).error?.code == .invalidHeader)
    }
    #expect(server.connectionCount == 0)
    client.configure { $0.interceptors.exchanges = [] }
    #expect(try await client.send(Ask<String>(path: "/next")) == "right")
    #expect(server.requests.map(\.target) == ["/next"])
    transport.expectToHaveCarriedAll(of: server)
  }

  @Test(arguments: ["a\"; filename=\"x", "a\r\nX-Evil: 1\r\n\r\n", "\r", "\n"], Carrier.allCases)
  func `file name cannot break its line`(name: String, carrier: Carrier) async throws {
    let server = try server { _ in .ok("taken") }
    let form = Multipart([.data(name, Data(), filename: name)])
    #expect(
      try await outcome(of: Ask<String>(method: .post, body: .multipart(form)), at: server, carrier).value == "taken")
    let body = try #require(server.requests.first).body
    // Two delimiters, two fields and two blank lines, and no other line.
    #expect(body.count { $0 == 0x0A } == 6 && body.count { $0 == 0x0D } == 6)
    #expect(body.count { $0 == 0x22 } == 4)
  }
}
