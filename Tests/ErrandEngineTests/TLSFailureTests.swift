#if os(Linux)
  import ErrandHTTP
  import Glibc
  import Testing

  @testable import ErrandEngine

  struct TLSFailureTests {
    private static let handshakes: [(TLSFailure, TransportFailure.Kind)] = [
      (TLSFailure(), .closedBeforeResponse), (TLSFailure(systemError: ECONNRESET), .closedBeforeResponse),
      (TLSFailure(reason: "certificate verify failed", verifyResult: 10), .certificateExpired),
      (TLSFailure(reason: "certificate verify failed", verifyResult: 9), .certificateNotYetValid),
      (TLSFailure(reason: "certificate verify failed", verifyResult: 18), .certificateSelfSigned),
      (TLSFailure(reason: "certificate verify failed", verifyResult: 20), .unknownAuthority),
      (TLSFailure(reason: "certificate verify failed", verifyResult: 62), .wrongHost),
      (TLSFailure(reason: "certificate verify failed", verifyResult: 64), .wrongHost),
      (TLSFailure(reason: "certificate verify failed", verifyResult: 23), .tls),
      (TLSFailure(reason: "tlsv1 alert protocol version"), .tlsVersion),
      (TLSFailure(reason: "unsupported protocol"), .tlsVersion),
      (TLSFailure(reason: "sslv3 alert handshake failure"), .tls),
      (TLSFailure(reason: "sslv3 alert handshake failure", lacksCertificate: true), .clientCertificateRequired),
      (TLSFailure(systemError: ECONNRESET, lacksCertificate: true), .clientCertificateRequired),
      (TLSFailure(reason: "tlsv1 alert unknown ca", hasCertificate: true), .clientCertificateRefused),
      (TLSFailure(reason: "wrong version number", isForeign: true), .tls),
    ]

    @Test(arguments: handshakes)
    func `a failed handshake has its kind`(failure: TLSFailure, kind: TransportFailure.Kind) {
      #expect(failure.handshakeKind == kind)
    }

    @Test func `only TLS explains a failure before the response`() {
      #expect(TLSFailure().kindBeforeResponse(isReset: true) == nil)
      #expect(TLSFailure(reason: "decryption failed or bad record mac").kindBeforeResponse(isReset: true) == nil)
      #expect(TLSFailure(reason: "tlsv1 alert internal error").kindBeforeResponse(isReset: true) == .tls)
      let required = TLSFailure(reason: "tlsv13 alert certificate required", lacksCertificate: true)
      #expect(required.kindBeforeResponse(isReset: true) == .clientCertificateRequired)
      let lost = TLSFailure(lacksCertificate: true)
      #expect(lost.kindBeforeResponse(isReset: true) == .clientCertificateRequired)
      #expect(lost.kindBeforeResponse(isReset: false) == nil)
      let refused = TLSFailure(reason: "sslv3 alert certificate revoked", hasCertificate: true)
      #expect(refused.kindBeforeResponse(isReset: true) == .clientCertificateRefused)
    }

    @Test func `the cause is named`() {
      #expect(TLSFailure().cause == nil)
      #expect(TLSFailure(systemError: ECONNRESET).cause == "Connection reset by peer")
      #expect(TLSFailure(reason: "unsupported protocol").cause == "unsupported protocol")
      let expired = TLSFailure(reason: "certificate verify failed", verifyResult: 10, verifyText: "it has expired")
      #expect(expired.cause == "it has expired")
      let foreign = TLSFailure(reason: "wrong version number", isForeign: true)
      #expect(foreign.cause == "wrong version number")
    }
  }
#endif
