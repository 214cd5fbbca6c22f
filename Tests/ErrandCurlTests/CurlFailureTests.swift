#if os(Linux)
  import CCurl
  import ErrandCore
  import ErrandTesting
  import Foundation
  import Testing

  @testable import ErrandCurl

  struct CurlFailureTests {
    enum Moment: Sendable { case connecting, sent, inHead, inBody }

    struct Row: Sendable, CustomTestStringConvertible {
      let code: UInt32
      let text: String
      let moment: Moment
      let kind: TransportFailure.Kind
      init(_ code: CURLcode, _ moment: Moment, _ kind: TransportFailure.Kind, _ text: String = "") {
        self.code = code.rawValue
        self.text = text
        self.moment = moment
        self.kind = kind
      }
      var testDescription: String { "\(code) \(moment) \(text)" }
    }

    static let rows = [
      Row(CURLE_URL_MALFORMAT, .connecting, .unsupported),
      Row(CURLE_UNSUPPORTED_PROTOCOL, .connecting, .unsupported, "Protocol \"ftp\" not supported"),
      Row(CURLE_UNSUPPORTED_PROTOCOL, .sent, .malformedResponse, "Received HTTP/0.9 when not allowed"),
      Row(CURLE_COULDNT_RESOLVE_HOST, .connecting, .nameLookup),
      Row(CURLE_COULDNT_RESOLVE_PROXY, .connecting, .proxy),
      Row(CURLE_COULDNT_CONNECT, .connecting, .refused),
      Row(CURLE_COULDNT_CONNECT, .connecting, .refused, "Failed to connect to example.com port 443 after 1 ms: …"),
      Row(CURLE_COULDNT_CONNECT, .connecting, .proxy, "Failed to connect to proxy.example port 3128 after 1 ms: …"),
      Row(CURLE_OPERATION_TIMEDOUT, .connecting, .connectTimeout),
      Row(CURLE_OPERATION_TIMEDOUT, .sent, .idleTimeout),
      Row(CURLE_OPERATION_TIMEDOUT, .sent, .connectTimeout, "Connection timed out after 500 milliseconds"),
      Row(CURLE_SSL_CONNECT_ERROR, .connecting, .tls), Row(CURLE_PEER_FAILED_VERIFICATION, .connecting, .tls),
      Row(CURLE_SSL_CACERT_BADFILE, .connecting, .tls), Row(CURLE_SSL_PINNEDPUBKEYNOTMATCH, .connecting, .pinMismatch),
      Row(CURLE_SSL_CERTPROBLEM, .connecting, .tls),
      Row(CURLE_GOT_NOTHING, .sent, .closedBeforeResponse, "Empty reply from server"),
      Row(CURLE_SEND_ERROR, .sent, .closedBeforeResponse), Row(CURLE_RECV_ERROR, .sent, .closedBeforeResponse),
      Row(CURLE_SEND_FAIL_REWIND, .sent, .closedBeforeResponse),
      Row(CURLE_RECV_ERROR, .inHead, .reset, "Recv failure: Connection reset by peer"),
      Row(CURLE_RECV_ERROR, .inBody, .reset, "Recv failure: Connection reset by peer"),
      Row(CURLE_RECV_ERROR, .inHead, .tooLarge, "Too large response headers: 307204 > 307200"),
      Row(CURLE_RECV_ERROR, .inBody, .malformedResponse, "Illegal or missing hexadecimal sequence in chunked-encoding"),
      Row(CURLE_RECV_ERROR, .connecting, .proxyCredentials, "CONNECT tunnel failed, response 407"),
      Row(CURLE_RECV_ERROR, .connecting, .proxy, "CONNECT tunnel failed, response 502"),
      Row(CURLE_RECV_ERROR, .sent, .clientCertificateRequired, "tlsv13 alert certificate required"),
      Row(CURLE_SSL_CONNECT_ERROR, .connecting, .tlsVersion, "tlsv1 alert protocol version"),
      Row(CURLE_SSL_CONNECT_ERROR, .connecting, .tls, "sslv3 alert handshake failure"),
      Row(CURLE_SSL_CONNECT_ERROR, .connecting, .tls, "wrong version number"),
      Row(
        CURLE_SSL_CONNECT_ERROR, .connecting, .closedBeforeResponse,
        "OpenSSL SSL_connect: SSL_ERROR_SYSCALL in connection to 127.0.0.1:443 "),
      Row(
        CURLE_SSL_CONNECT_ERROR, .connecting, .closedBeforeResponse,
        "TLS connect error: error:0A000126:SSL routines::unexpected eof while reading"),
      Row(CURLE_RECV_ERROR, .sent, .tls, "tlsv1 alert unknown ca"),
      Row(CURLE_PARTIAL_FILE, .inBody, .truncated),
      Row(CURLE_WEIRD_SERVER_REPLY, .inHead, .malformedResponse),
      Row(CURLE_BAD_FUNCTION_ARGUMENT, .inBody, .malformedResponse),
      Row(CURLE_OUT_OF_MEMORY, .connecting, .other), Row(CURLE_OUT_OF_MEMORY, .inBody, .other),
      Row(CURLcode(100), .inHead, .tooLarge), Row(CURLcode(100), .connecting, .other),
      Row(CURLcode(100), .inBody, .other),
      Row(CURLE_BAD_CONTENT_ENCODING, .inBody, .undecodableContent),
      Row(CURLE_HTTP2, .sent, .http2), Row(CURLE_HTTP2_STREAM, .inBody, .http2),
      Row(CURLE_FAILED_INIT, .connecting, .other),
    ]

    @Test(arguments: rows)
    func `libcurl code maps to failure kind`(_ row: Row) throws {
      let origin = try HTTPURL("https://example.com").origin
      var failure = CurlFailure(code: CURLcode(row.code), text: row.text, origin: origin)
      failure.mayHaveBeenSent = row.moment != .connecting
      failure.hasBegun = row.moment == .inHead || row.moment == .inBody
      failure.isFinal = row.moment == .inBody
      failure.hasProxy = true
      let result = failure.transportFailure
      #expect(result.kind == row.kind)
      #expect(result.isCertainlyNotSent == (row.moment == .connecting))
      #expect(result.description.contains("libcurl \(row.code)"))
    }

    @Test(arguments: [
      (Moment.sent, CurlVersion(7, 88, 1), TransportFailure.Kind.tooLarge), (.inHead, CurlVersion(8, 5, 0), .tooLarge),
      (.inHead, CurlVersion(8, 6, 0), .other), (.inBody, CurlVersion(7, 88, 1), .other),
      (.connecting, CurlVersion(7, 88, 1), .other),
    ])
    func `lack of memory is kept apart if possible`(
      _ moment: Moment, _ version: CurlVersion, _ kind: TransportFailure.Kind
    ) throws {
      var failure = CurlFailure(code: CURLE_OUT_OF_MEMORY, text: "", origin: try HTTPURL("https://example.com").origin)
      failure.mayHaveBeenSent = moment != .connecting
      failure.hasBegun = moment == .inHead || moment == .inBody
      failure.isFinal = moment == .inBody
      failure.version = version
      let text = failure.transportFailure.description
      #expect(failure.kind == kind && text.contains("memory"))
      #expect(text.contains("100 KiB for a line") == (kind == .tooLarge) && !text.contains("raise `limits.headBytes`"))
    }

    /// The client's limit allows these headers, but libcurl's own limits do not.
    @Test(arguments: [(200_000, 1), (4_000, 100)])
    func `libcurl's own limits are named`(length: Int, count: Int) async throws {
      let server = try LoopbackServer { request in
        let isSmall = request.path == "/small"
        let fields = (0..<(isSmall ? 10 : count)).map {
          LoopbackHeaders.Field("X-\($0)", String(repeating: "x", count: isSmall ? 8_000 : length))
        }
        return LoopbackAnswer([.head(status: 200, headers: LoopbackHeaders(fields)), .body([1]), .close])
      }
      let limits = ResponseLimits(headBytes: 1 << 20)
      let transport = CurlTransport()
      let small = Exchange(request: try HTTPRequest(url: server.url + "/small"), limits: limits)
      #expect(try await transport.send(small).body == Data([1]))
      let large = Exchange(request: try HTTPRequest(url: server.url), limits: limits)
      do {
        // libcurl before 8.3.0 limits only the single lines.
        #expect(try await transport.send(large).body == Data([1]))
        #expect(count > 1 && CurlVersion.running < CurlVersion(8, 3, 0))
      } catch let failure as TransportFailure {
        #expect(failure.kind == .tooLarge && failure.description.contains("100 KiB for a line and 300 KiB"))
      }
    }

    @Test(arguments: [
      ("[0:0:0:0:0:0:0:1]", "::1", 1, true, TransportFailure.Kind.refused), ("127.1", "127.0.0.1", 1, true, .refused),
      ("127.0.0.1", "127.0.0.2", 1, true, .proxy), ("127.0.0.1", "127.0.0.1", 2, true, .proxy),
      ("example.com", "other.example", 1, false, .refused),
    ])
    func `failed connection names proxy or server`(
      host: String, found: String, port: Int, hasProxy: Bool, kind: TransportFailure.Kind
    ) throws {
      let text = "Failed to connect to \(found) port \(port) after 0 ms: Couldn't connect to server"
      let origin = try HTTPURL("http://\(host):1/").origin
      var failure = CurlFailure(code: CURLE_COULDNT_CONNECT, text: text, origin: origin)
      failure.hasProxy = hasProxy
      #expect(failure.transportFailure.kind == kind)
    }

    @Test func `missing file descriptors are not a refusal`() throws {
      let origin = try HTTPURL("http://h.example").origin
      var failure = CurlFailure(code: CURLE_COULDNT_CONNECT, text: "Couldn't connect to server", origin: origin)
      failure.lacksResources = true
      let told = failure.transportFailure
      #expect(told.kind == .other && told.description.contains("file descriptor") && told.isCertainlyNotSent)
    }

    @Test(arguments: [nil, .seconds(3600), .zero] as [Duration?])
    func `only an expired deadline stops the call`(_ left: Duration?) throws {
      let call = CallState(deadline: left.map { MonotonicInstant.now.advanced(by: $0) })
      let failure = try Self.failure(of: call, CURLE_OPERATION_TIMEDOUT) { _ in }
      #expect(call.isStopped == (left == .zero))
      #expect(failure?.kind == .idleTimeout)
      #expect(failure?.isCertainlyNotSent == false)
    }

    @Test func `repeated request may have been sent`() throws {
      let failure = try Self.failure(of: CallState(), CURLE_COULDNT_CONNECT) { $0.discardResponse() }
      #expect(failure?.kind == .refused)
      #expect(failure?.isCertainlyNotSent == false)
    }

    /// The failure for a libcurl code that is reported after the request has started.
    private static func failure(
      of call: CallState, _ code: CURLcode, meanwhile: (CurlTransfer) -> Void
    ) throws -> TransportFailure? {
      let configuration = CurlConfiguration()
      let loop = CurlLoop(configuration, .standard)
      let handle = try #require(
        CurlHandle(configuration: configuration, trust: .standard, connections: loop.connections))
      let exchange = Exchange(request: try HTTPRequest(url: "https://example.com/"), call: call)
      return withExtendedLifetime(loop) {
        let transfer = CurlTransfer(exchange, loop: loop)
        #expect(transfer.mayRequest(over: nil))
        meanwhile(transfer)
        return #expect(throws: TransportFailure.self) {
          try CurlFailure.outcome(of: transfer, handle: handle, code: code)
        }
      }
    }

    @Test(arguments: [
      (100, TransportFailure.Kind.offline), (101, .offline), (111, .refused), (113, .refused), (0, .refused),
    ])
    func `unreachable network is offline`(_ systemError: Int, _ kind: TransportFailure.Kind) throws {
      var failure = CurlFailure(
        code: CURLE_COULDNT_CONNECT, text: "x", origin: try HTTPURL("https://example.com").origin)
      failure.systemError = systemError
      #expect(failure.transportFailure.kind == kind)
      #expect(failure.transportFailure.isCertainlyNotSent)
    }

    /// The texts of libcurl for a proxy in the environment that it cannot use.
    static let unusableProxies: [(UInt32, String)] = [
      (CURLE_COULDNT_RESOLVE_PROXY.rawValue, "Unsupported proxy syntax in 'http://eve:s3cret@proxy.example:x'"),
      (CURLE_COULDNT_CONNECT.rawValue, "Unsupported proxy scheme for 'ftp://eve:s3cret@proxy.example'"),
      (CURLE_COULDNT_CONNECT.rawValue, "Unsupported proxy scheme for 'ftp://e've:s3cret@proxy.example and more than f"),
    ]

    @Test(arguments: unusableProxies)
    func `unusable proxy is not quoted`(_ code: UInt32, _ text: String) throws {
      var found = CurlFailure(code: CURLcode(code), text: text, origin: try HTTPURL("https://example.com").origin)
      found.hasProxy = true
      let failure = found.transportFailure
      #expect(failure.kind == .proxy)
      #expect(failure.description.contains("Unsupported proxy s"))
      for secret in ["eve", "s3cret", "proxy.example"] { #expect(!failure.description.contains(secret)) }
    }

    @Test(arguments: [
      (104, "Recv failure: Connection reset by peer", TransportFailure.Kind.closedBeforeResponse),
      (32, "Send failure: Broken pipe", .closedBeforeResponse), (0, "x", .tls),
      (104, "error:0A000410:SSL routines::sslv3 alert handshake failure", .tls),
    ])
    func `aborted handshake is not a refusal`(
      _ systemError: Int, _ text: String, _ kind: TransportFailure.Kind
    ) throws {
      var failure = CurlFailure(
        code: CURLE_SSL_CONNECT_ERROR, text: text, origin: try HTTPURL("https://example.com").origin)
      failure.systemError = systemError
      #expect(failure.transportFailure.kind == kind && failure.transportFailure.isCertainlyNotSent)
    }

    static let verdicts: [(Int, TransportFailure.Kind, String)] = [
      (10, .certificateExpired, "The certificate of https://example.com has expired;"),
      (9, .certificateNotYetValid, "is not valid yet"), (18, .certificateSelfSigned, "self-signed"),
      (19, .unknownAuthority, "an authority that is not trusted"),
      (20, .unknownAuthority, "an authority that is not trusted"), (62, .wrongHost, "is for another host"),
      (0, .tls, "could not be set up"),
    ]

    @Test(arguments: verdicts)
    func `refused certificate gives the reason`(
      _ verifyResult: Int, _ kind: TransportFailure.Kind, _ words: String
    ) throws {
      let origin = try HTTPURL("https://example.com").origin
      var failure = CurlFailure(code: CURLE_PEER_FAILED_VERIFICATION, text: "x", origin: origin)
      failure.verifyResult = verifyResult
      #expect(failure.transportFailure.kind == kind)
      #expect(failure.transportFailure.kind.concernsTLS)
      #expect(failure.transportFailure.description.contains(words))
    }

    @Test func `client certificate failures are distinguished`() throws {
      let origin = try HTTPURL("https://example.com").origin
      for (text, showed, lacked, kind) in [
        ("sslv3 alert handshake failure", false, true, TransportFailure.Kind.clientCertificateRequired),
        ("Recv failure: Connection reset by peer", false, true, .clientCertificateRequired),
        ("Recv failure: Connection reset by peer", true, false, .closedBeforeResponse),
        ("Recv failure: Connection reset by peer", false, false, .closedBeforeResponse),
        ("tlsv1 alert unknown ca", true, false, .clientCertificateRefused),
        ("sslv3 alert certificate expired", true, false, .clientCertificateRefused),
      ] {
        var failure = CurlFailure(code: CURLE_RECV_ERROR, text: text, origin: origin)
        failure.mayHaveBeenSent = true
        failure.showedCertificate = showed
        failure.lackedCertificate = lacked
        #expect(failure.kind == kind, "\(text) \(showed) \(lacked)")
      }
    }
  }
#endif
