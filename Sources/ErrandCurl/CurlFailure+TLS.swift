#if os(Linux)
  import CCurl
  import ErrandHTTP
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
      let words = text.lowercased()
      if code == CURLE_SSL_PINNEDPUBKEYNOTMATCH { return .pinMismatch }
      if code == CURLE_PEER_FAILED_VERIFICATION { return certificateKind }
      let versions = ["alert protocol version", "unsupported protocol", "wrong ssl version"]
      return versions.contains(where: words.contains) ? .tlsVersion : .tls
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
      return switch verifyResult {
      case 9: .certificateNotYetValid
      case 10: .certificateExpired
      case 18: .certificateSelfSigned
      case 2, 19, 20, 21, 27: .unknownAuthority
      case 62, 64: .wrongHost
      default: .tls
      }
    }

    /// The kind of the failure if the server rejected the client certificate or required one. Otherwise nil. With TLS
    /// 1.3 the server's alert arrives after the handshake, while the request is being sent.
    var clientCertificateKind: TransportFailure.Kind? {
      guard code != CURLE_OK, code != CURLE_PEER_FAILED_VERIFICATION, !hasBegun else { return nil }
      let words = text.lowercased()
      if words.contains("alert certificate required") { return .clientCertificateRequired }
      let refusals = [
        "bad certificate", "unsupported certificate", "certificate revoked", "certificate expired",
        "certificate unknown", "unknown ca", "access denied",
      ]
      let isRefused = refusals.contains { words.contains("alert \($0)") }
      if showedCertificate { return isRefused ? .clientCertificateRefused : nil }
      guard lackedCertificate else { return nil }
      // Some servers only report that the handshake failed. The alert of other servers is lost, because these servers
      // close the connection while the request is being sent.
      let isBroken = code == CURLE_SEND_ERROR || code == CURLE_RECV_ERROR
      let isHandshake = words.contains("alert handshake failure") || words.contains("reset by peer")
      return isRefused || isBroken || isHandshake ? .clientCertificateRequired : nil
    }
  }
#endif
