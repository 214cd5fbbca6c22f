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

    /// What of TLS failed: by OpenSSL's verdict on the certificate first, by its words otherwise.
    var tlsKind: TransportFailure.Kind {
      if origin.scheme == .http { return .proxy }  // the only one that is spoken to over TLS then
      let words = text.lowercased()
      if code == CURLE_SSL_PINNEDPUBKEYNOTMATCH { return .pinMismatch }
      if code == CURLE_PEER_FAILED_VERIFICATION { return certificateKind }
      let versions = ["alert protocol version", "unsupported protocol", "wrong ssl version"]
      return versions.contains(where: words.contains) ? .tlsVersion : .tls
    }

    /// Whether the connection closed or was reset while TLS was set up, without a word of either side on why. OpenSSL
    /// names an end that is none of its own by `SSL_ERROR_SYSCALL`, or by `unexpected eof` where it has words for it.
    var brokeInHandshake: Bool {
      guard code == CURLE_SSL_CONNECT_ERROR, !mayHaveBeenSent else { return false }
      let words = text.lowercased()
      if words.contains("ssl routines") { return words.contains("unexpected eof") }
      return [Int(ECONNRESET), Int(EPIPE)].contains(systemError) || words.contains("ssl_error_syscall")
    }

    /// Why the server's certificate was refused. For another host libcurl 7.88 leaves a verdict of no meaning beside
    /// its words.
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

    /// What the server said about this side's certificate; nil where it said nothing. From TLS 1.3 on it does so after
    /// the handshake, while the request is on its way.
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
      // Some servers say no more than that the handshake failed. With others their word is lost, since they close on
      // what is being sent.
      let isBroken = code == CURLE_SEND_ERROR || code == CURLE_RECV_ERROR
      let isHandshake = words.contains("alert handshake failure") || words.contains("reset by peer")
      return isRefused || isBroken || isHandshake ? .clientCertificateRequired : nil
    }
  }
#endif
