#if os(Linux)
  import CCurl
  import ErrandHTTP
  import ErrandTLS
  import Glibc

  extension CurlFailure {
    static let tlsCodes: Set<UInt32> = Set(
      [
        CURLE_SSL_CONNECT_ERROR, CURLE_SSL_ENGINE_NOTFOUND, CURLE_SSL_ENGINE_SETFAILED, CURLE_SSL_CERTPROBLEM,
        CURLE_SSL_CIPHER, CURLE_PEER_FAILED_VERIFICATION, CURLE_USE_SSL_FAILED, CURLE_SSL_ENGINE_INITFAILED,
        CURLE_SSL_CACERT_BADFILE, CURLE_SSL_SHUTDOWN_FAILED, CURLE_SSL_CRL_BADFILE, CURLE_SSL_ISSUER_ERROR,
        CURLE_SSL_PINNEDPUBKEYNOTMATCH, CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_CLIENTCERT,
      ].map(\.rawValue))

    /// The kind of a TLS failure. If the certificate was rejected, OpenSSL's verification result determines the kind.
    /// Otherwise libcurl's message determines the kind.
    var tlsKind: TransportFailure.Kind {
      if origin.scheme == .http { return .proxy }  // Without https, only the proxy uses TLS.
      if code == CURLE_SSL_PINNEDPUBKEYNOTMATCH { return .pinMismatch }
      if code == CURLE_PEER_FAILED_VERIFICATION { return certificateKind }
      return TLSFailureRules.handshakeKind(text)
    }

    /// Whether the server answered the TLS handshake with bytes that are not TLS. OpenSSL reads the text of a response as
    /// a record of an unknown TLS version.
    var metPlainText: Bool {
      code == CURLE_SSL_CONNECT_ERROR && origin.scheme == .https && !hasProxy
        && ["wrong version number", "http request"].contains(where: text.lowercased().contains)
    }

    /// Whether the connection was closed or reset during the TLS handshake, without an alert from either side. OpenSSL
    /// reports this as `SSL_ERROR_SYSCALL`, or as `unexpected eof`.
    var brokeInHandshake: Bool {
      guard code == CURLE_SSL_CONNECT_ERROR, !mayHaveBeenSent else { return false }
      let words = text.lowercased()
      if words.contains("ssl routines") { return words.contains("unexpected eof") }
      return [Int(ECONNRESET), Int(EPIPE)].contains(systemError) || words.contains("ssl_error_syscall")
    }

    /// The reason why the server's certificate was rejected. For a wrong host, libcurl 7.88 sets a meaningless
    /// verification result, so the message is checked first.
    private var certificateKind: TransportFailure.Kind {
      if text.contains("subject name") || text.contains("does not match") { return .wrongHost }
      return TLSFailureRules.certificateKind(verifyResult: verifyResult)
    }

    /// The kind of the failure if the server rejected the client certificate or required one. Otherwise nil.
    var clientCertificateKind: TransportFailure.Kind? {
      guard code != CURLE_OK, code != CURLE_PEER_FAILED_VERIFICATION, !hasBegun else { return nil }
      return TLSFailureRules.clientCertificateKind(
        text, .init(isLacking: lackedCertificate, isConfigured: showedCertificate),
        isBroken: code == CURLE_SEND_ERROR || code == CURLE_RECV_ERROR)
    }
  }
#endif
