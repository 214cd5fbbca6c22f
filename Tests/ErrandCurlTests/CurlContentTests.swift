#if os(Linux)
  import CodedSamples
  import Errand
  import ErrandCore
  import ErrandDecoding
  import ErrandCurl
  import ErrandTesting
  import Foundation
  import Testing
  import TransportChecks

  @testable import ErrandCurl

  /// Response bodies with content codings, received over a socket.
  struct CurlContentTests {
    static func answer(_ bytes: [UInt8], coding: String) -> LoopbackAnswer {
      .data(bytes).setting("Content-Encoding", to: coding)
    }

    private static func checks(_ coding: ContentCoding) -> CodedBodyChecks {
      CodedBodyChecks(CodedSamples.text, coded: CodedSamples.text(in: coding), coding: coding.rawValue)
    }

    @Test(arguments: ContentCoding.allCases)
    func `coded body arrives decoded`(_ coding: ContentCoding) async throws {
      try await Self.checks(coding).arrivesDecoded(over: CurlTransport())
    }

    @Test(arguments: ContentCoding.allCases)
    func `truncated coded body throws`(_ coding: ContentCoding) async throws {
      try await Self.checks(coding).rejectsTruncation(over: CurlTransport())
    }

    /// The brotli samples are excluded because brotli has no checksum.
    @Test(arguments: [ContentCoding.gzip, .deflate, .zstd])
    func `changed byte of a coded body throws`(_ coding: ContentCoding) async throws {
      let coded = CodedSamples.text(in: coding)
      let server = try LoopbackServer { request in
        var damaged = coded
        if let index = Int(request.path.dropFirst()), coded.indices.contains(index) { damaged[index] ^= 0x55 }
        return Self.answer(damaged, coding: coding.rawValue)
      }
      let transport = CurlTransport()
      var told = 0
      for index in coded.indices {
        do {
          // Some bytes carry no data, such as the time in a gzip header.
          let response = try await TransportConformance.get(transport, server.url + "/\(index)")
          #expect(response.text == CodedSamples.text, "at \(index)")
        } catch let failure as TransportFailure {
          #expect(failure.kind == .undecodableContent, "at \(index): \(failure)")
          told += 1
        }
      }
      #expect(told > coded.count / 2)
      #expect(try await TransportConformance.get(transport, server.url + "/whole").text == CodedSamples.text)
    }

    @Test(arguments: ContentCoding.allCases)
    func `decompression bomb stops at the limit`(_ coding: ContentCoding) async throws {
      let bomb = CodedSamples.zeros(in: coding)
      let server = try LoopbackServer { _ in Self.answer(bomb, coding: coding.rawValue) }
      let transport = CurlTransport()
      let request = try HTTPRequest(url: server.url)
      let limits = ResponseLimits(bodyBytes: 1 << 20)
      let failure = await TransportConformance.failure(
        of: Exchange(request: request, limits: limits), over: transport)
      #expect(failure?.kind == .tooLarge)
      let exact = ResponseLimits(bodyBytes: 8 << 20)
      #expect(try await transport.send(Exchange(request: request, limits: exact)).body.count == 8 << 20)
    }

    @Test(arguments: ContentCoding.allCases)
    func `decompression bomb for a sink stops at its ratio`(_ coding: ContentCoding) async throws {
      let bomb = CodedSamples.zeros(in: coding)
      let server = try LoopbackServer { request in
        request.path == "/next" ? .ok("right") : Self.answer(bomb, coding: coding.rawValue)
      }
      let transport = CurlTransport()
      let request = try HTTPRequest(url: server.url)
      let sink = RecordingSink(keeps: false)
      let narrow = ResponseLimits(expansion: BodyExpansion(freeBytes: 1 << 20))
      let failure = await TransportConformance.failure(
        of: Exchange(request: request, limits: narrow, sink: sink), over: transport)
      #expect(failure?.kind == .tooLarge)
      #expect(failure?.description.contains("raise `limits.expansion`") == true)
      #expect(sink.count <= 1 << 20 && sink.ends == 0)
      #expect(try await TransportConformance.get(transport, server.url + "/next").text == "right")
      for expansion in [BodyExpansion(freeBytes: 8 << 20), BodyExpansion(ratio: 1 << 30, freeBytes: 0), nil] {
        let sink = RecordingSink(keeps: false)
        let limits = ResponseLimits(expansion: expansion)
        _ = try await transport.send(Exchange(request: request, limits: limits, sink: sink))
        #expect(sink.count == 8 << 20 && sink.ends == 1)
      }
    }

    @Test(arguments: ContentCoding.allCases)
    func `decompression bomb ends a client's call`(_ coding: ContentCoding) async throws {
      let bomb = CodedSamples.zeros(in: coding)
      let server = try LoopbackServer { request in
        request.path == "/next" ? .ok("right") : Self.answer(bomb, coding: coding.rawValue)
      }
      let client = APIClient(baseURL: server.url)
      client.configure { $0.limits.bodyBytes = 1 << 20 }
      let outcome = await client.outcome(of: Plain(path: "/bomb"))
      #expect(outcome.error?.transportKind == .tooLarge)
      #expect(outcome.response == nil && client.running.isEmpty)
      #expect(try await client.send(Plain(path: "/next")) == Data("right".utf8))
      let seen = try #require(server.requests.first)
      #expect(seen.headers["Accept-Encoding"] == "gzip, br, zstd")
    }

    private struct Plain: APIRequest {
      let path: Path
    }

    @Test(arguments: ContentCoding.allCases)
    func `pausing sink gets the whole body`(_ coding: ContentCoding) async throws {
      let bomb = CodedSamples.zeros(in: coding)
      let server = try LoopbackServer()
      server.enqueue(
        Self.answer(bomb, coding: coding.rawValue),
        .chunked(bomb.map { [$0] }).setting("Content-Encoding", to: coding.rawValue))
      for _ in 0..<2 {
        let sink = RecordingSink(keeps: false) { _ in
          .sink
        } onPiece: { _, flow in
          flow.resume()
          return false
        }
        _ = try await CurlTransport().send(Exchange(request: HTTPRequest(url: server.url), sink: sink))
        #expect(sink.count == 8 << 20)
        #expect(sink.ends == 1)
      }
    }

    @Test(arguments: ["compress", "gzip foo", "gzip, gzip", "br, gzip"])
    func `unsupported coding throws`(_ coding: String) async throws {
      let server = try LoopbackServer { request in
        request.path == "/next" ? .ok("right") : Self.answer([1, 2, 3], coding: coding)
      }
      let transport = CurlTransport()
      let request = try HTTPRequest(url: server.url)
      let failure = await TransportConformance.failure(of: Exchange(request: request), over: transport)
      #expect(failure?.kind == .undecodableContent)
      #expect(try await TransportConformance.get(transport, server.url + "/next").text == "right")
    }

    @Test(arguments: ["aws-chunked", "none", "utf-8", "binary", "foo"])
    func `unknown coding leaves the bytes`(_ coding: String) async throws {
      let server = try LoopbackServer { _ in Self.answer([1, 2, 3], coding: coding) }
      #expect(try await TransportConformance.get(CurlTransport(), server.url).body == Data([1, 2, 3]))
      var strict = CurlConfiguration()
      strict.refusesUnknownContentCodings = true
      let request = try HTTPRequest(url: server.url)
      let failure = await TransportConformance.failure(of: Exchange(request: request), over: try CurlTransport(strict))
      #expect(failure?.kind == .undecodableContent)
      #expect(failure?.description.contains(coding) == true)
    }

    @Test func `several codings are decoded in order`() async throws {
      let coded = CodedSamples.encode(CodedSamples.text(in: .br), .zstd)
      let server = try LoopbackServer()
      server.enqueue(
        Self.answer(coded, coding: "br, zstd"),
        .data(coded).setting("Content-Encoding", to: "br").adding("Content-Encoding", "zstd"),
        .chunked(coded.map { [$0] }).setting("Content-Encoding", to: "br,zstd"))
      for _ in 0..<3 {
        #expect(try await TransportConformance.get(CurlTransport(), server.url).text == CodedSamples.text)
      }
    }

    @Test(arguments: ContentCoding.allCases)
    func `bytes after the end are harmless`(_ coding: ContentCoding) async throws {
      let server = try LoopbackServer { _ in
        Self.answer(CodedSamples.text(in: coding) + [0, 0, 13, 10], coding: coding.rawValue)
      }
      let transport = CurlTransport()
      for _ in 0..<2 { #expect(try await TransportConformance.get(transport, server.url).text == CodedSamples.text) }
      #expect(server.connectionCount == 1)
    }

    @Test func `empty response needs no decoding`() async throws {
      let server = try LoopbackServer { request in
        .status(request.path == "/304" ? 304 : 200, headers: ["Content-Encoding": "gzip", "Content-Length": "0"])
      }
      let transport = CurlTransport()
      #expect(try await TransportConformance.get(transport, server.url + "/304").status == 304)
      #expect(try await TransportConformance.get(transport, server.url).body.isEmpty)
      let head = try HTTPRequest(method: .head, url: server.url)
      #expect(try await transport.send(Exchange(request: head)).status == 200)
    }

    @Test func `discarded body is not decoded`() async throws {
      let server = try LoopbackServer { _ in Self.answer([1, 2, 3], coding: "foo") }
      let sink = RecordingSink { _ in .discard }
      #expect(try await CurlTransport().send(Exchange(request: HTTPRequest(url: server.url), sink: sink)).status == 200)
    }
  }
#endif
