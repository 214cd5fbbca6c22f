#if os(Linux)
  import ErrandHTTP

  /// The sentences of failures.
  enum CurlFailureText {
    static let outOfRoom = "There is no memory or no file descriptor left for another request."

    static func sentence(for kind: TransportFailure.Kind, origin: HTTPURL.Origin) -> String {
      switch kind {
      case .unsupported: "The request cannot be sent by libcurl."
      case .offline: "There is no network on which \(origin) could be reached."
      case .nameLookup: "The name of \(origin.host) could not be resolved."
      case .refused: "Nobody listens at \(origin), or it cannot be reached."
      case .connectTimeout: connectTimeout(origin, after: nil)
      case .idleTimeout: idleTimeout(origin, after: nil)
      case .proxy: "The proxy on the way to \(origin) refused or failed."
      case .proxyCredentials:
        "The proxy on the way to \(origin) demands other credentials; set `user` and `password` of `proxy`."
      case .closedBeforeResponse: "\(origin) closed the connection before a byte of its answer."
      case .reset: "The connection to \(origin) broke in the middle of the answer."
      case .truncated: "The body of the answer ended before its announced end."
      case .malformedResponse: "The answer of \(origin) breaks the rules of HTTP."
      case .tooLarge: "The head of the answer is larger than the limits allow; raise `limits.headBytes` if it is meant."
      case .undecodableContent: "The body cannot be decoded."
      case .http2: "HTTP/2 failed between \(origin) and here."
      default: kind.concernsTLS ? tls(kind, origin) : "The exchange with \(origin) failed."
      }
    }

    static func connectTimeout(_ origin: HTTPURL.Origin, after limit: Duration?) -> String {
      "No connection to \(origin) stood \(within(limit)); raise `timeouts.connect` to wait longer."
    }

    static func idleTimeout(_ origin: HTTPURL.Origin, after limit: Duration?) -> String {
      "Nothing moved between \(origin) and here \(within(limit)); raise `timeouts.idle` to wait longer."
    }

    static func refused(socket path: String) -> String {
      "Nobody listens at the Unix socket \(path), or it cannot be reached; see `unixSocket`."
    }

    private static func within(_ limit: Duration?) -> String { limit.map { "within \($0)" } ?? "in time" }

    private static func tls(_ kind: TransportFailure.Kind, _ origin: HTTPURL.Origin) -> String {
      switch kind {
      case .certificateExpired: "The certificate of \(origin) has expired; it is for the server's owner to renew it."
      case .certificateNotYetValid:
        "The certificate of \(origin) is not valid yet; see whether this machine's clock is right."
      case .certificateSelfSigned:
        "The certificate of \(origin) is signed by itself; set `certificateAuthority` to it if it is to be trusted."
      case .unknownAuthority:
        "The certificate of \(origin) comes from an authority that is not trusted; set `certificateAuthority` to that one."
      case .wrongHost:
        "The certificate of \(origin) is for another host, or names this one in its common name alone."
      case .pinMismatch:
        "The public key of \(origin) is not among its pins; add the new key's pin if the server's owner says so."
      case .tlsVersion: "\(origin) speaks only versions of TLS that are older than `minimumTLSVersion`."
      case .clientCertificateRequired:
        "\(origin) asked for a client certificate, got none and ended the connection; add one to `clientCertificates`."
      case .clientCertificateRefused:
        "\(origin) refused the client certificate; see its dates and whether the server trusts its authority."
      default: "TLS with \(origin) could not be set up."
      }
    }
  }
#endif
