#if os(Linux)
  import CCurl
  import CErrandCurl
  public import ErrandHTTP
  import Foundation

  /// The settings of ``CurlTransport``: proxy, trusted certificates, HTTP and TLS versions, and idle connections.
  public struct CurlConfiguration: Sendable, Hashable {
    /// The version of HTTP.
    public typealias HTTPVersion = HTTPVersionPolicy

    /// The error for an invalid setting.
    public struct Invalid: Error, Sendable, Hashable, CustomStringConvertible {
      /// An English sentence that names the setting and how to correct it.
      public let description: String
    }

    /// The proxy for requests. By default, no proxy is used.
    public var proxy: TransportProxy = .none
    /// The authorities whose server certificates are accepted. By default, these are the authorities that the system
    /// trusts.
    public var certificateAuthority: CertificateAuthority = .system
    /// The public keys that the certificates of certain hosts must have (public key pinning). Hosts that are not listed
    /// may have any key.
    public var pins: [PublicKeyPins] = []
    /// The client certificates for servers that ask for a certificate. The first certificate whose hosts include the
    /// server is used.
    public var clientCertificates: [ClientCertificate] = []
    /// The addresses to which connections are allowed; all addresses by default. A policy other than `.any` cannot be
    /// combined with a proxy, because a proxy resolves names itself.
    public var addressPolicy: AddressPolicy = .any
    /// The path of a Unix socket. If a path is set, all requests go to this socket, whatever their host is. Each
    /// exchange then has a separate connection. A Unix socket cannot be combined with a proxy. Nil by default.
    public var unixSocket: String?
    /// The version of HTTP; ``ErrandHTTP/HTTPVersionPolicy/automatic`` by default.
    public var httpVersion: HTTPVersion = .automatic
    /// The oldest version of TLS that is accepted; 1.2 by default.
    public var minimumTLSVersion: TLSVersion = .tls1_2
    /// Addresses that replace name lookups: `["api.example.com:443": "127.0.0.1"]`. Several addresses are separated by
    /// commas.
    public var addressOverrides: [String: String] = [:]
    /// Whether a response fails if its `Content-Encoding` contains a name that is not a registered content coding, such
    /// as `aws-chunked` or `utf-8`. By default such names are ignored and the bytes are delivered unchanged (RFC 9110
    /// section 8.4).
    public var refusesUnknownContentCodings = false
    /// The maximum number of connections that are kept open for later requests; 256 by default.
    public var maximumIdleConnections: Int = 256
    /// The longest time that a connection may be idle and still be reused, in whole seconds; 90 seconds by default.
    public var maximumIdleAge: Duration = .seconds(90)

    /// Makes the standard configuration.
    public init() {}
  }

  extension CurlConfiguration {
    /// The HTTP version that is used. ``ErrandHTTP/HTTPVersionPolicy/automatic`` is replaced by the version that is
    /// safe with the running libcurl.
    var effectiveVersion: HTTPVersion { effectiveVersion(with: .running) }

    func effectiveVersion(with version: CurlVersion) -> HTTPVersion {
      guard httpVersion == .automatic else { return httpVersion }
      return version.offersHTTP2 ? .http2 : .http1Only
    }

    /// Applies the configuration to a new easy handle.
    func apply(to easy: UnsafeMutableRawPointer) {
      applyProxy(to: easy)
      let version =
        switch minimumTLSVersion {
        case .tls1_2: CURL_SSLVERSION_TLSv1_2
        case .tls1_3: CURL_SSLVERSION_TLSv1_3
        }
      errand_easy_set_long(easy, CURLOPT_SSLVERSION, Int(version))
      if proxy != .none { errand_easy_set_long(easy, CURLOPT_PROXY_SSLVERSION, Int(version)) }
      if let unixSocket { errand_easy_set_string(easy, CURLOPT_UNIX_SOCKET_PATH, unixSocket) }
      errand_easy_set_long(easy, CURLOPT_MAXAGE_CONN, max(1, Int(clamping: maximumIdleAge.components.seconds)))
    }

    /// The file with the authorities that the system trusts; nil if the system has only a directory.
    static let systemAuthorityFile: String? = {
      guard let file = errand_system_authorities() else { return nil }
      let path = String(cString: file)
      return FileManager.default.isReadableFile(atPath: path) ? path : nil
    }()

    /// Whether a host is compared only with the alternative names in the server's certificate. False if the proxy may
    /// use TLS, because a TLS context does not show whether it belongs to the proxy or to the server.
    var checksAlternativeNames: Bool {
      switch proxy {
      case .none: true
      case .url(let url, _, _): !url.lowercased().hasPrefix("https:")
      case .environment: false
      }
    }

    private func applyProxy(to easy: UnsafeMutableRawPointer) {
      switch proxy {
      case .environment: break
      case .none: errand_easy_set_string(easy, CURLOPT_PROXY, "")
      case .url(let url, let user, let password):
        errand_easy_set_string(easy, CURLOPT_PROXY, url)
        errand_easy_set_string(easy, CURLOPT_NOPROXY, "")
        if let user { errand_easy_set_string(easy, CURLOPT_PROXYUSERNAME, user) }
        if let password { errand_easy_set_string(easy, CURLOPT_PROXYPASSWORD, password) }
      }
    }

    /// The address overrides in libcurl's format, followed by the addresses that a custom resolver found. The caller
    /// must free the list.
    func addressList(adding found: String? = nil) -> UnsafeMutablePointer<curl_slist>? {
      var list: UnsafeMutablePointer<curl_slist>?
      for (place, address) in addressOverrides { list = curl_slist_append(list, "\(place):\(address)") }
      if let found { list = curl_slist_append(list, found) }
      return list
    }
  }
#endif
