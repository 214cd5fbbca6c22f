#if os(Linux)
  import CErrandTLS
  import ErrandCore
  import ErrandTesting
  import ErrandTLS
  import Foundation
  import Testing
  import TransportChecks

  @testable import ErrandCurl

  /// Behaviour that depends on the version of libcurl, and responses that crash old versions.
  struct CurlVersionTests {
    @Test func `most specific pins apply`() throws {
      func pins(_ host: String, _ bytes: UInt8...) -> PublicKeyPins {
        PublicKeyPins(host: host, sha256: bytes.map { Data(repeating: $0, count: 32).base64EncodedString() })
      }
      let (wide, close) = (pins(".example.com", 1, 2), pins(".b.example.com", 3, 4))
      let exact = pins("a.b.example.com", 5, 6)
      for pins in [[wide, close, exact], [exact, close, wide], [close, exact, wide]] {
        var configuration = CurlConfiguration()
        configuration.pins = pins
        let trust = try CurlTrust(configuration)
        for (host, counts) in [("a.b.example.com", exact), ("c.b.example.com", close), ("c.example.com", wide)] {
          #expect(trust.pins(of: host)?.contains(counts.sha256[0]) == true)
        }
      }
    }

    @Test func `certificates that cannot be counted are not called missing`() {
      var byte: UInt8 = 0
      // The function does not read the bytes of a text that is too long.
      var damaged: CInt = 7
      let result = errand_pem_count_certificates(&byte, Int(Int32.max) + 1, &damaged)
      #expect(Int(result) == Int(errand_pem_too_long) && damaged == 0)
      let reasons = [(Int(errand_pem_no_memory), "No memory"), (Int(errand_pem_too_long), "longer than 2 GiB")]
      for (count, reason) in reasons {
        let fault = TrustFiles.fault(of: .data(Data()), certificates: count)
        #expect(count < 0 && fault?.contains(reason) == true)
      }
      #expect(TrustFiles.fault(of: .data(Data()), certificates: 0)?.contains("holds no certificate") == true)
      #expect(TrustFiles.fault(of: .data(Data()), certificates: 1) == nil)
    }

    @Test(
      arguments: [
        (0x075801, "7.88.1", false, false), (0x080000, "8.0.0", false, false), (0x080100, "8.1.0", false, false),
        (0x080101, "8.1.1", true, false), (0x080102, "8.1.2", true, false), (0x080900, "8.9.0", true, false),
        (0x081700, "8.23.0", true, false), (0x081800, "8.24.0", true, true), (0x090000, "9.0.0", true, true),
        (0, "0.0.0", false, false),
      ] as [(UInt32, String, Bool, Bool)])
    func `version decides about unsafe features`(_ number: UInt32, _ text: String, _ reuses: Bool, _ http2: Bool) {
      let version = CurlVersion(number: number)
      #expect(version.description == text)
      #expect(version.allowsHandleReuse == reuses)
      #expect(version.offersHTTP2 == http2)
      var configuration = CurlConfiguration()
      #expect(configuration.effectiveVersion(with: version) == (http2 ? .http2 : .http1Only))
      for chosen in [HTTPVersionPolicy.http2, .http1Only, .http2PriorKnowledge] {
        configuration.httpVersion = chosen
        #expect(configuration.effectiveVersion(with: version) == chosen)
      }
    }

    @Test(
      arguments: [
        (0x075700, true, false, false), (0x075801, false, false, false), (0x080B00, false, false, false),
        (0x080B01, true, false, false), (0x080C00, false, false, false), (0x080E00, true, false, false),
        (0x080E01, false, false, false), (0x080F00, false, false, false), (0x081000, false, true, false),
        (0x081500, false, true, false), (0x081600, false, false, false), (0x081700, false, false, true),
      ] as [(UInt32, Bool, Bool, Bool)])
    func `versions with defects are recognised`(_ number: UInt32, _ isRefused: Bool, _ lookups: Bool, _ bodies: Bool) {
      let version = CurlVersion(number: number)
      #expect((version.refusal != nil) == isRefused)
      #expect(version.keepsFailedLookups == lookups && version.sendsBodiesOverHTTP2 == bodies)
    }

    @Test func `running version is supported`() { #expect(CurlVersion.running >= CurlVersion(7, 88, 0)) }

    @Test(arguments: [(255, true), (256, false)])
    func `host longer than 255 bytes is refused`(_ length: Int, _ isSent: Bool) async throws {
      let host = String((0..<length).map { $0 % 64 == 63 ? "." : "a" })
      let request = HTTPRequest(url: try HTTPURL("http://\(host)/"))
      #expect(((try? CurlRequestCheck.check(request)) != nil) == isSent)
    }

    @Test func `fields that libcurl drops are refused`() throws {
      var request = try HTTPRequest(url: "http://h/")
      request.fields.append(HTTPField("X-Long", String(repeating: "a", count: 300_000)))
      try CurlRequestCheck.check(request)
      request.fields.append(HTTPField("X-Longer", String(repeating: "a", count: 300_001)))
      let failure = #expect(throws: TransportFailure.self) { try CurlRequestCheck.check(request) }
      #expect(failure.map { "\($0)".contains("X-Longer has more than 300000 bytes") } == true)
    }

    @Test func `unsafe handles are not reused`() throws {
      for allowsReuse in [false, true] {
        var pool = CurlHandlePool(allowsReuse: allowsReuse)
        pool.give(
          try #require(
            CurlHandle(configuration: CurlConfiguration(), trust: .standard, connections: CurlConnections())))
        #expect((pool.take() != nil) == allowsReuse)
      }
    }

    static let folded = ["\r\n X-A: 1", "\r\n\tX-A: 1", "\r\n  ", "\r\n X: \(String(repeating: "a", count: 5000))"]

    /// With libcurl 7.88.1 and a reused handle, this response makes libcurl write through a freed pointer.
    @Test(arguments: folded)
    func `folded status line is malformed`(_ fold: String) async throws {
      let bad = "HTTP/1.1 200 OK\(fold)\r\nContent-Length: 5\r\n\r\nhello"
      let answer: @Sendable (RecordedRequest) -> LoopbackAnswer = { request in
        request.path == "/bad"
          ? .raw(bad) : .status(200, headers: ["A": "b", "Cache-Control": "no-store"], body: "fine")
      }
      let servers = [try LoopbackServer(handler: answer), try LoopbackServer(handler: answer)]
      let transport = CurlTransport()
      for _ in 0..<20 {
        for server in servers {
          #expect(try await TransportConformance.get(transport, server.url + "/good").text == "fine")
        }
        for server in servers {
          let request = try HTTPRequest(url: server.url + "/bad")
          let failure = await TransportConformance.failure(of: Exchange(request: request), over: transport)
          #expect(failure?.kind == .malformedResponse)
        }
      }
    }

    @Test(arguments: folded)
    func `folded status line after 417 is malformed`(_ fold: String) async throws {
      var options = LoopbackOptions()
      options.reception = { _ in .withoutContinue }
      for _ in 0..<10 {
        let server = try LoopbackServer()
        server.enqueue(
          .status(417, headers: ["A": "b"]), .raw("HTTP/1.1 200 OK\(fold)\r\nContent-Length: 5\r\n\r\nhello"))
        let body = HTTPBody(Data(count: 100)).expectingContinue()
        let request = try HTTPRequest(method: .post, url: server.url, body: body)
        let failure = await TransportConformance.failure(of: Exchange(request: request), over: CurlTransport())
        #expect(failure?.kind == .malformedResponse)
      }
    }

    @Test func `connections are reused without handles`() async throws {
      let server = try LoopbackServer { _ in .ok("fine") }
      let transport = CurlTransport()
      for _ in 0..<50 { #expect(try await TransportConformance.get(transport, server.url).text == "fine") }
      #expect(server.connectionCount == 1)
    }
  }
#endif
