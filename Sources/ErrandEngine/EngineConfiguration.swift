#if os(Linux)
  public import ErrandHTTP
  import ErrandSupport
  import ErrandTLS

  /// The settings of ``EngineTransport``: proxy, trusted certificates, the version of TLS, the addresses to which it
  /// connects, and idle connections.
  public struct EngineConfiguration: Sendable, Hashable {
    /// The error for an invalid setting.
    public struct Invalid: Error, Sendable, Hashable, CustomStringConvertible {
      /// An English sentence that names the setting and how to correct it.
      public let description: String
    }

    /// The proxy for requests. By default, no proxy is used. Only HTTP proxies are supported: a request that needs a
    /// proxy with another scheme fails with ``ErrandHTTP/TransportFailure/Kind/unsupported``.
    public var proxy: TransportProxy = .none
    /// The authorities whose server certificates are accepted. By default, these are the authorities that the system
    /// trusts.
    public var certificateAuthority: CertificateAuthority = .system
    /// The public keys that the certificates of certain hosts must have (public key pinning). Hosts that are not listed
    /// may have any key. The keys are checked before a byte of the request is sent.
    public var pins: [PublicKeyPins] = []
    /// The client certificates for servers that ask for a certificate. The first certificate whose hosts include the
    /// server is used.
    public var clientCertificates: [ClientCertificate] = []
    /// The oldest version of TLS that is accepted; 1.2 by default.
    public var minimumTLSVersion: TLSVersion = .tls1_2
    /// The addresses to which the transport may connect; all addresses by default. A policy other than `.any` cannot be
    /// combined with a proxy, because a proxy resolves names itself. The addresses of a host are checked
    /// after the lookup. Forbidden addresses are skipped.
    public var addressPolicy: AddressPolicy = .any
    /// The path of a Unix domain socket. If a path is set, all requests go to this socket, whatever their host is. Nil
    /// by default.
    public var unixSocket: String? {
      get { socketBytes?.text }
      set { socketBytes = newValue.map { ByteText($0) } }
    }
    /// The version of HTTP; ``ErrandHTTP/HTTPVersionPolicy/automatic`` by default, which is HTTP/2 over TLS if the
    /// server offers it, and HTTP/1.1 otherwise.
    public var httpVersion: HTTPVersionPolicy = .automatic
    /// Addresses to use instead of a lookup, by host and port: `["api.example.com:80": "127.0.0.1"]`. Several addresses
    /// are separated by commas. A link-local IPv6 address may name its scope: `fe80::1%eth0`.
    public var addressOverrides: [String: String] = [:]
    /// If true, a response fails if its `Content-Encoding` contains a name that is no registered content coding, such
    /// as `aws-chunked` or `utf-8`. By default such names are ignored, and the bytes are delivered as they arrived (RFC
    /// 9110 section 8.4).
    public var refusesUnknownContentCodings = false
    /// The maximum number of idle connections that are kept open for later requests, for each of HTTP/1.1 and HTTP/2;
    /// 256 by default.
    public var maximumIdleConnections = 256
    /// The maximum number of idle HTTP/1.1 connections with the same scheme, host and port; 256 by default.
    public var maximumIdleConnectionsPerHost = 256
    /// The longest time that an idle connection is kept open; 90 seconds by default.
    public var maximumIdleAge: Duration = .seconds(90)

    /// The time without a received byte after which an HTTP/2 connection sends PING with the next request.
    var pingAfter: Duration = .seconds(15)
    /// The time after which an HTTP/2 connection counts as broken if the server sends no byte after PING.
    var pingWait: Duration = .seconds(10)

    /// The path of ``unixSocket``. Two paths are equal only if their bytes are equal.
    private var socketBytes: ByteText?

    /// Makes the standard configuration.
    public init() {}
  }

  extension EngineConfiguration {
    /// The identity of a transport with this configuration (see ``ErrandHTTP/Transport/identity``).
    var identity: String? {
      TransportIdentity.digest(clientCertificates, unixSocket: unixSocket, addressOverrides: addressOverrides)
    }

    /// The protocols that the transport offers to a TLS server, in the order of preference (ALPN, RFC 7301).
    var applicationProtocols: [String] {
      switch httpVersion {
      case .automatic, .http2: ["h2", "http/1.1"]
      case .http1Only: ["http/1.1"]
      case .http2PriorKnowledge: ["h2"]
      }
    }

    /// Makes the loop for the configuration: checks the settings and reads the certificate files.
    /// - Throws: ``Invalid`` if a setting is invalid.
    func loop() throws(Invalid) -> EngineLoop {
      let overrides = try validated()
      do {
        let trust = try TrustSettings(
          certificateAuthority, pins: pins, clientCertificates: clientCertificates, policy: addressPolicy)
        return EngineLoop(self, overrides, trust)
      } catch {
        throw Invalid(description: error.description)
      }
    }

    /// Checks the configuration. Returns the parsed address overrides by origin.
    /// - Throws: ``Invalid`` if a setting is invalid.
    func validated() throws(Invalid) -> [HTTPURL.Origin: [SocketAddress]] {
      guard maximumIdleConnections > 0, maximumIdleConnectionsPerHost > 0, maximumIdleAge > .zero else {
        throw Invalid(
          description:
            "`maximumIdleConnections`, `maximumIdleConnectionsPerHost` and `maximumIdleAge` must be greater than zero.")
      }
      var texts = [unixSocket]
      if case .url(let url, let user, let password) = proxy { texts += [url, user, password] }
      guard texts.allSatisfy({ $0?.utf8.allSatisfy { $0 > 0x1F && $0 != 0x7F } ?? true }) else {
        throw Invalid(description: TrustFiles.controlCharacter)
      }
      if let fault = proxy.fault(with: addressPolicy, certificateAuthority, unixSocket: unixSocket) {
        throw Invalid(description: fault)
      }
      if let unixSocket, SocketAddress(socket: unixSocket) == nil || !unixSocket.utf8.starts(with: "/".utf8) {
        throw Invalid(description: "`unixSocket` must be an absolute path of at most 107 bytes.")
      }
      var parsed: [HTTPURL.Origin: [SocketAddress]] = [:]
      for (place, text) in addressOverrides {
        let origins = Self.origins(of: place)
        guard let port = origins.first?.port, let addresses = Self.addresses(text, port: port) else {
          throw Self.unreadable(place, text)
        }
        for origin in origins { parsed[origin] = addresses }
      }
      return parsed
    }

    /// The http and https origins of an override's key. Empty if the key does not have the form `host:port`.
    private static func origins(of place: String) -> [HTTPURL.Origin] {
      let parts = place.utf8.split(separator: 0x3A, omittingEmptySubsequences: false)
      guard parts.count == 2, !parts[1].isEmpty, parts[1].allSatisfy(ASCII.isDigit) else { return [] }
      return ["http", "https"].compactMap { try? HTTPURL("\($0)://\(place)/").origin }
    }

    private static func addresses(_ text: String, port: Int) -> [SocketAddress]? {
      var addresses: [SocketAddress] = []
      for part in text.utf8.split(separator: 0x2C, omittingEmptySubsequences: false) {
        guard let address = SocketAddress(numeric: String(decoding: part, as: UTF8.self), port: port) else {
          return nil
        }
        addresses.append(address)
      }
      return addresses
    }

    private static func unreadable(_ place: String, _ text: String) -> Invalid {
      Invalid(
        description: """
          The address override "\(place)": "\(text)" is invalid. Use the form "host:port": "address", with a host \
          name, a port from 1 to 65535, and one or more IPv4 or IPv6 addresses separated by commas.
          """)
    }
  }
#endif
