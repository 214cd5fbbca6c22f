#if os(Linux)
  import CCurl
  import CErrandCurl
  public import ErrandHTTP
  import ErrandSupport
  import ErrandTLS
  import Foundation

  /// The settings of ``CurlTransport``: proxy, trusted certificates, HTTP and TLS versions, and idle connections.
  public struct CurlConfiguration: Sendable, Hashable {
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
    public var unixSocket: String? {
      get { socketBytes?.text }
      set { socketBytes = newValue.map { ByteText($0) } }
    }
    /// The version of HTTP; ``ErrandHTTP/HTTPVersionPolicy/automatic`` by default.
    public var httpVersion: HTTPVersionPolicy = .automatic
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

    /// The path of ``unixSocket``. Two paths are equal only if their bytes are equal.
    private var socketBytes: ByteText?

    /// Makes the standard configuration.
    public init() {}
  }

  extension CurlConfiguration {
    /// The identity of a transport with this configuration (see ``ErrandHTTP/Transport/identity``).
    var identity: String? {
      TransportIdentity.digest(clientCertificates, unixSocket: unixSocket, addressOverrides: addressOverrides)
    }

    /// The HTTP version that is used. ``ErrandHTTP/HTTPVersionPolicy/automatic`` is replaced by the version that is
    /// safe with the running libcurl.
    var effectiveVersion: HTTPVersionPolicy { effectiveVersion(with: .running) }

    func effectiveVersion(with version: CurlVersion) -> HTTPVersionPolicy {
      guard httpVersion == .automatic else { return httpVersion }
      return version.offersHTTP2 ? .http2 : .http1Only
    }

    func apply(to easy: UnsafeMutableRawPointer) {
      if proxy != .environment { proxy.apply(to: easy) }
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

    /// The address overrides in libcurl's format, followed by the addresses that a custom resolver found. The caller
    /// must free the list.
    func addressList(adding found: String? = nil) -> UnsafeMutablePointer<curl_slist>? {
      var list: UnsafeMutablePointer<curl_slist>?
      for (place, address) in addressOverrides { list = curl_slist_append(list, "\(place):\(address)") }
      if let found { list = curl_slist_append(list, found) }
      return list
    }
  }

  extension TransportProxy {
    /// Whether libcurl may use TLS with the proxy. A TLS context then does not show whether it belongs to the proxy or
    /// to the server.
    var mayUseTLS: Bool {
      switch self {
      case .none: false
      case .url(let url, _, _): url.lowercased().hasPrefix("https:")
      case .environment: true
      }
    }

    /// The credentials for a proxy that speaks HTTP, to which ``CurlTransfer`` authenticates itself. libcurl uses the
    /// credentials for SOCKS proxies.
    var httpCredentials: ProxyCredentials? {
      guard case .url(let url, let user, let password) = self, let scheme = ProxyAddress(url)?.scheme,
        scheme == .http || scheme == .https
      else { return nil }
      return ProxyCredentials(user, password)
    }

    /// Lets an easy handle use this proxy. The value ``ErrandHTTP/TransportProxy/environment`` means no proxy.
    func apply(to easy: UnsafeMutableRawPointer) {
      var (address, user, password): (String, String?, String?) = ("", nil, nil)
      if case .url(let url, let name, let word) = self { (address, user, password) = (url, name, word) }
      let usesSOCKS = ProxyAddress(address)?.scheme.rawValue.hasPrefix("socks") == true
      errand_easy_set_string(easy, CURLOPT_PROXY, address)
      errand_easy_set_string(easy, CURLOPT_NOPROXY, "")
      errand_easy_set_string(easy, CURLOPT_PROXYUSERNAME, usesSOCKS ? user : nil)
      errand_easy_set_string(easy, CURLOPT_PROXYPASSWORD, usesSOCKS ? password : nil)
      // The transfer reads the challenge in the proxy's response to CONNECT.
      errand_easy_set_long(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, httpCredentials == nil ? 1 : 0)
    }
  }

  extension CurlConfiguration {
    /// The maximum length of a Unix socket's path in bytes. The system accepts no longer paths.
    private static let longestSocketPath = 107

    /// Throws an error if a setting is invalid. `TrustSettings` checks the certificate files and the keys.
    func validate() throws(Invalid) {
      if case .url(let url, let user, let password) = proxy {
        for text in [url, user, password] { try text.map(Self.check) }
      }
      for (place, addresses) in addressOverrides { try Self.validate(override: place, addresses) }
      guard maximumIdleConnections > 0, maximumIdleAge > .zero else {
        throw Invalid(description: "`maximumIdleConnections` and `maximumIdleAge` must be greater than zero.")
      }
      if let unixSocket { try Self.validate(socket: unixSocket) }
      if let fault = proxy.fault(with: addressPolicy, certificateAuthority, unixSocket: unixSocket) {
        throw Invalid(description: fault)
      }
    }

    /// Throws an error if an address override is invalid. libcurl parses all overrides for each request, so one invalid
    /// override would fail all requests.
    private static func validate(override place: String, _ addresses: String) throws(Invalid) {
      try check(place)
      try check(addresses)
      let parts = place.unicodeScalars.split(separator: ":", omittingEmptySubsequences: false).map { Substring($0) }
      let isPlace = parts.count == 2 && isHost(parts[0]) && isPort(parts[1])
      guard isPlace, addresses.split(separator: ",", omittingEmptySubsequences: false).allSatisfy(isAddress) else {
        throw Invalid(
          description: """
            The address override "\(place)": "\(addresses)" is invalid; it must have the form "host:port": "address", \
            with a name, a port from 1 to 65535, and an IPv4 or IPv6 address, or several separated by commas.
            """)
      }
    }

    /// Whether a text is a host name or an IPv4 address. A plus or minus sign in front of a name is rejected, because
    /// the sign has a special meaning for libcurl. The first byte is compared, because a combining mark after a sign
    /// does not change the meaning of the sign for libcurl.
    private static func isHost(_ text: Substring) -> Bool {
      guard let first = text.utf8.first, text.utf8.count < 256 else { return false }
      return first != UInt8(ascii: "+") && first != UInt8(ascii: "-") && first != UInt8(ascii: "[")
    }

    private static func isPort(_ text: Substring) -> Bool {
      text.utf8.allSatisfy { (0x30...0x39).contains($0) } && UInt16(text).map { $0 > 0 } == true
    }

    private static func isAddress(_ text: Substring) -> Bool {
      let isInBrackets = text.hasPrefix("[") && text.hasSuffix("]")
      return CurlAddress(String(isInBrackets ? text.dropFirst().dropLast() : text)) != nil
    }

    private static func validate(socket path: String) throws(Invalid) {
      try check(path)
      guard path.hasPrefix("/"), path.utf8.count <= longestSocketPath else {
        throw Invalid(
          description: "`unixSocket` must be an absolute path of at most \(longestSocketPath) bytes.")
      }
    }

    static func check(_ text: String) throws(Invalid) {
      guard text.utf8.allSatisfy({ $0 > 0x1F && $0 != 0x7F }) else {
        throw Invalid(description: TrustFiles.controlCharacter)
      }
    }
  }
#endif
