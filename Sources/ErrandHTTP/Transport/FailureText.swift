/// The English messages of ``TransportFailure``.
package enum FailureText {
  package static let outOfResources = "No memory or file descriptor is available for another request."

  package static let missingCloseNotification =
    "The TLS connection ended without a close notification during the body."

  package static func sentence(for kind: TransportFailure.Kind, origin: HTTPURL.Origin) -> String {
    switch kind {
    case .unsupported: "The request cannot be sent by this transport."
    case .offline: "No network is available to reach \(origin)."
    case .nameLookup: "The name of \(origin.host) could not be resolved."
    case .refused: "Nothing listens at \(origin), or the host cannot be reached."
    case .connectTimeout: connectTimeout(origin, after: nil)
    case .idleTimeout: idleTimeout(origin, after: nil)
    case .proxy: "The proxy for \(origin) refused the request or failed."
    case .proxyCredentials:
      "The proxy for \(origin) requires other credentials; set `user` and `password` of `proxy`."
    case .closedBeforeResponse: "\(origin) closed the connection before the first byte of its response."
    case .reset: "The connection to \(origin) broke during the response."
    case .truncated: "The body of the response ended before its announced end."
    case .malformedResponse: "The response of \(origin) violates the rules of HTTP."
    case .tooLarge:
      "The response headers are larger than the limits allow; raise `limits.headBytes` if they are expected."
    case .undecodableContent: "The body cannot be decoded."
    case .http2: "HTTP/2 with \(origin) failed."
    default: kind.concernsTLS ? tls(kind, origin) : "The exchange with \(origin) failed."
    }
  }

  package static func connectTimeout(_ origin: HTTPURL.Origin, after limit: Duration?) -> String {
    "No connection to \(origin) was established \(within(limit)); raise `timeouts.connect` to wait longer."
  }

  package static func idleTimeout(_ origin: HTTPURL.Origin, after limit: Duration?) -> String {
    "No data was transferred to or from \(origin) \(within(limit)); raise `timeouts.idle` to wait longer."
  }

  package static func refused(socket path: String) -> String {
    "Nothing listens at the Unix socket \(path), or the socket cannot be reached; check `unixSocket`."
  }

  /// The sentence for a server that answered the TLS handshake with something else, such as a response of HTTP/1.1.
  package static func notTLS(_ origin: HTTPURL.Origin) -> String {
    "\(origin) does not speak TLS on this port, but probably plain HTTP; use http in the URL, or the port for https."
  }

  private static func within(_ limit: Duration?) -> String { limit.map { "within \($0)" } ?? "in time" }

  private static func tls(_ kind: TransportFailure.Kind, _ origin: HTTPURL.Origin) -> String {
    switch kind {
    case .certificateExpired: "The certificate of \(origin) has expired; the owner of the server must renew it."
    case .certificateNotYetValid:
      "The certificate of \(origin) is not valid yet; check the clock of this machine."
    case .certificateSelfSigned:
      "The certificate of \(origin) is self-signed; "
        + "to trust this certificate, set `certificateAuthority` to the certificate."
    case .unknownAuthority:
      "The certificate of \(origin) comes from an authority that is not trusted; "
        + "to trust this authority, set `certificateAuthority`."
    case .wrongHost:
      "The certificate of \(origin) is for another host, or names the host only in its common name."
    case .pinMismatch:
      "The public key of \(origin) is not among its pins; "
        + "add the pin of the new key if the server's owner confirms the new key."
    case .tlsVersion: "\(origin) supports only versions of TLS that are older than `minimumTLSVersion`."
    case .clientCertificateRequired:
      "\(origin) requires a client certificate, but none was sent; add one to `clientCertificates`."
    case .clientCertificateRefused:
      "\(origin) refused the client certificate; check its dates and whether the server trusts its authority."
    default: "TLS with \(origin) could not be set up."
    }
  }
}
