#if os(Linux)
  import CCurl
  import CErrandCurl
  public import ErrandHTTP
  public import Foundation

  /// How ``CurlTransport`` reaches servers: proxy, trust, versions and idle connections.
  public struct CurlConfiguration: Sendable, Hashable {
    /// Which proxy requests go through.
    public enum Proxy: Sendable, Hashable {
      /// None, whatever the environment says.
      case none
      /// One proxy for everything. Schemes: `http`, `https`, `socks4`, `socks4a`, `socks5`, `socks5h`.
      case url(String, user: String? = nil, password: String? = nil)
      /// What `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy` say in the environment.
      case environment
    }

    /// Who vouches for servers.
    public enum CertificateAuthority: Sendable, Hashable {
      /// The authorities that the system trusts.
      case system
      /// The authorities in a file of PEM certificates, and nobody else.
      case file(path: String)
      /// These authorities in PEM, and nobody else.
      case certificates(Data)
      /// For tests: these authorities in PEM, and loopback addresses alone. Elsewhere nothing is connected to
      /// (``ErrandHTTP/TransportFailure/Kind/forbiddenAddress``), so a build that kept it by mistake trusts nobody.
      case test(CertificateSource)
    }

    /// Which version of HTTP is spoken.
    public enum HTTPVersion: Sendable, Hashable {
      /// HTTP/1.1 with a libcurl before 8.24.0, whose HTTP/2 loses and delays responses; from there on what ``http2``
      /// says.
      case automatic
      /// HTTP/2 over TLS if the server offers it, HTTP/1.1 otherwise, with any libcurl.
      case http2
      /// HTTP/1.1 only.
      case http1Only
      /// HTTP/2 at once, in cleartext too (RFC 9113 section 3.3); in cleartext each exchange has its own connection.
      case http2PriorKnowledge
    }

    /// A version of TLS.
    public enum TLSVersion: Sendable, Hashable {
      /// TLS 1.2 (RFC 5246).
      case tls1_2
      /// TLS 1.3 (RFC 8446).
      case tls1_3
    }

    /// A setting that cannot be honoured.
    public struct Invalid: Error, Sendable, Hashable, CustomStringConvertible {
      /// An English sentence that names the setting and the cure.
      public let description: String
    }

    /// The proxy; none where nothing is said.
    public var proxy: Proxy = .none
    /// Who vouches for servers; the system's authorities where nothing is said.
    public var certificateAuthority: CertificateAuthority = .system
    /// The public keys that hosts may have; others have none pinned.
    public var pins: [PublicKeyPins] = []
    /// The certificates that this side shows to servers that ask; the first one that is for the host counts.
    public var clientCertificates: [ClientCertificate] = []
    /// To which addresses it may connect; to all where nothing is said. Not together with a proxy, which looks names up
    /// itself.
    public var addressPolicy: AddressPolicy = .any
    /// The socket of this machine that all requests go to, whatever their host; none where nothing is said. Each
    /// exchange has a connection of its own. Not together with a proxy.
    public var unixSocket: String?
    /// The version of HTTP; ``HTTPVersion/automatic`` by default.
    public var httpVersion: HTTPVersion = .automatic
    /// The oldest version of TLS that is accepted; 1.2 where nothing is said.
    public var minimumTLSVersion: TLSVersion = .tls1_2
    /// Addresses to use in the place of name look-ups: `["api.example.com:443": "127.0.0.1"]`. Several stand with
    /// commas between them.
    public var addressOverrides: [String: String] = [:]
    /// Whether a response fails if its `Content-Encoding` names something that is no registered content coding, such as
    /// `aws-chunked` or `utf-8`. By default such names are ignored and the bytes are delivered as they came (RFC 9110
    /// section 8.4).
    public var refusesUnknownContentCodings = false
    /// How many connections are kept open; 256 where nothing is said.
    public var maximumIdleConnections: Int = 256
    /// How long a connection may lie idle and still be used again, in whole seconds; 90 where nothing is said.
    public var maximumIdleAge: Duration = .seconds(90)

    /// Makes the standard configuration.
    public init() {}
  }

  extension CurlConfiguration.Proxy: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The proxy, its credentials masked.
    public var description: String {
      switch self {
      case .none: "none"
      case .environment: "environment"
      case .url(let url, let user, _): Redaction.url(url) + (user == nil ? "" : " with credentials")
      }
    }
    /// The proxy, its credentials masked.
    public var debugDescription: String { description }
    /// What a dump shows: never the credentials.
    public var customMirror: Mirror { Mirror(self, children: ["proxy": description], displayStyle: .enum) }
  }

  extension CurlConfiguration {
    /// The version with ``HTTPVersion/automatic`` decided for the libcurl that runs.
    var effectiveVersion: HTTPVersion { effectiveVersion(with: .running) }

    func effectiveVersion(with version: CurlVersion) -> HTTPVersion {
      guard httpVersion == .automatic else { return httpVersion }
      return version.offersHTTP2 ? .http2 : .http1Only
    }

    /// Sets what the configuration says on a new easy handle.
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

    /// The file of the system's authorities; nil where it has only a directory of them.
    static let systemAuthorityFile: String? = {
      guard let file = errand_system_authorities() else { return nil }
      let path = String(cString: file)
      return FileManager.default.isReadableFile(atPath: path) ? path : nil
    }()

    /// Whether names are looked for among a certificate's alternative names only. A proxy that is spoken to over TLS
    /// has contexts of its own, which cannot be told from the server's.
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

    /// The overrides as libcurl's list, and what a resolver found for one more place; freed by whoever asked for it.
    func addressList(adding found: String? = nil) -> UnsafeMutablePointer<curl_slist>? {
      var list: UnsafeMutablePointer<curl_slist>?
      for (place, address) in addressOverrides { list = curl_slist_append(list, "\(place):\(address)") }
      if let found { list = curl_slist_append(list, found) }
      return list
    }
  }
#endif
