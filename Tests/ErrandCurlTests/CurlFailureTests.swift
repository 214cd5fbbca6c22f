#if os(Linux)
  import CCurl
  import ErrandCore
  import Testing

  @testable import ErrandCurl

  @Suite struct CurlFailureTests {
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
      Row(CURLE_SSL_CONNECT_ERROR, .connecting, .tls), Row(CURLE_PEER_FAILED_VERIFICATION, .connecting, .tls),
      Row(CURLE_SSL_CACERT_BADFILE, .connecting, .tls), Row(CURLE_SSL_PINNEDPUBKEYNOTMATCH, .connecting, .tls),
      Row(CURLE_SSL_CERTPROBLEM, .connecting, .tls),
      Row(CURLE_GOT_NOTHING, .sent, .closedBeforeResponse, "Empty reply from server"),
      Row(CURLE_SEND_ERROR, .sent, .closedBeforeResponse), Row(CURLE_RECV_ERROR, .sent, .closedBeforeResponse),
      Row(CURLE_SEND_FAIL_REWIND, .sent, .closedBeforeResponse),
      Row(CURLE_RECV_ERROR, .inHead, .reset, "Recv failure: Connection reset by peer"),
      Row(CURLE_RECV_ERROR, .inBody, .reset, "Recv failure: Connection reset by peer"),
      Row(CURLE_RECV_ERROR, .inHead, .tooLarge, "Too large response headers: 307204 > 307200"),
      Row(CURLE_RECV_ERROR, .inBody, .malformedResponse, "Illegal or missing hexadecimal sequence in chunked-encoding"),
      Row(CURLE_RECV_ERROR, .connecting, .proxy, "CONNECT tunnel failed, response 407"),
      Row(CURLE_RECV_ERROR, .sent, .tls, "tlsv13 alert certificate required"),
      Row(CURLE_PARTIAL_FILE, .inBody, .truncated),
      Row(CURLE_WEIRD_SERVER_REPLY, .inHead, .malformedResponse),
      Row(CURLE_BAD_FUNCTION_ARGUMENT, .inBody, .malformedResponse),
      Row(CURLE_OUT_OF_MEMORY, .inHead, .tooLarge),
      Row(CURLE_BAD_CONTENT_ENCODING, .inBody, .undecodableContent),
      Row(CURLE_HTTP2, .sent, .http2), Row(CURLE_HTTP2_STREAM, .inBody, .http2),
      Row(CURLE_FAILED_INIT, .connecting, .other),
    ]

    @Test(arguments: rows)
    func `a code becomes its kind`(_ row: Row) throws {
      let origin = try HTTPURL("https://example.com").origin
      var failure = CurlFailure(code: CURLcode(row.code), text: row.text, origin: origin)
      failure.mayHaveBeenSent = row.moment != .connecting
      failure.hasBegun = row.moment == .inHead || row.moment == .inBody
      failure.isFinal = row.moment == .inBody
      let result = failure.transportFailure
      #expect(result.kind == row.kind)
      #expect(result.isCertainlyNotSent == (row.moment == .connecting))
      #expect(result.description.contains("libcurl \(row.code)"))
    }

    @Test(arguments: [
      (100, TransportFailure.Kind.offline), (101, .offline), (111, .refused), (113, .refused), (0, .refused),
    ])
    func `no network is offline`(_ systemError: Int, _ kind: TransportFailure.Kind) throws {
      var failure = CurlFailure(
        code: CURLE_COULDNT_CONNECT, text: "x", origin: try HTTPURL("https://example.com").origin)
      failure.systemError = systemError
      #expect(failure.transportFailure.kind == kind)
      #expect(failure.transportFailure.isCertainlyNotSent)
    }

    @Test(arguments: [
      (10, "The certificate of https://example.com has expired (x; libcurl 60)."), (9, "is not valid yet"),
      (18, "signed by itself"),
      (20, "an authority that is not trusted"), (62, "is for another host"), (0, "could not be set up"),
    ])
    func `a refused certificate says why`(_ verifyResult: Int, _ words: String) throws {
      let origin = try HTTPURL("https://example.com").origin
      var failure = CurlFailure(code: CURLE_PEER_FAILED_VERIFICATION, text: "x", origin: origin)
      failure.verifyResult = verifyResult
      #expect(failure.transportFailure.description.contains(words))
    }
  }
#endif
