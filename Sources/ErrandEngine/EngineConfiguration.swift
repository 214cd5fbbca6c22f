#if os(Linux)
  public import ErrandHTTP

  /// How ``EngineTransport`` reaches servers: addresses, and the connections that are kept.
  public struct EngineConfiguration: Sendable, Hashable {
    /// A setting that cannot be honoured.
    public struct Invalid: Error, Sendable, Hashable, CustomStringConvertible {
      /// An English sentence that names the setting and the cure.
      public let description: String
    }

    /// The addresses to which the transport may connect; all of them by default. Each address of a host is checked
    /// after the look-up, and only those that are allowed are connected to.
    public var addressPolicy: AddressPolicy = .any
    /// The socket of this machine that all requests go to, whatever their host; nil by default.
    public var unixSocket: String?
    /// Addresses to use instead of a look-up, by host and port: `["api.example.com:80": "127.0.0.1"]`. Several are
    /// separated by commas. A link-local address of IPv6 may name its scope: `fe80::1%eth0`.
    public var addressOverrides: [String: String] = [:]
    /// Whether a response fails if its `Content-Encoding` names something that is no registered content coding, such as
    /// `aws-chunked` or `utf-8`. By default such names are ignored and the bytes are delivered as they came (RFC 9110
    /// section 8.4).
    public var refusesUnknownContentCodings = false
    /// How many connections are kept open for later requests; 256 by default.
    public var maximumIdleConnections = 256
    /// How many of them may belong to one scheme, host and port; 256 by default.
    public var maximumIdleConnectionsPerHost = 256
    /// How long a connection is kept without a request; 90 seconds by default.
    public var maximumIdleAge: Duration = .seconds(90)

    /// Makes the standard configuration.
    public init() {}
  }

  extension EngineConfiguration {
    /// Whether an address may be connected to. A socket of this machine is chosen by the configuration itself.
    func allows(_ address: SocketAddress) -> Bool {
      guard addressPolicy != .any, !address.isUnix else { return true }
      return address.kind.map(addressPolicy.allows) == true
    }

    /// The addresses that the configuration gives for origins.
    /// - Throws: ``Invalid`` where a setting cannot be honoured.
    func validated() throws(Invalid) -> [HTTPURL.Origin: [SocketAddress]] {
      guard maximumIdleConnections > 0, maximumIdleConnectionsPerHost > 0, maximumIdleAge > .zero else {
        throw Invalid(description: "The number and the age of idle connections must be above zero.")
      }
      if let unixSocket, SocketAddress(socket: unixSocket) == nil || !unixSocket.utf8.starts(with: "/".utf8) {
        throw Invalid(description: "`unixSocket` must be a path from the root of at most 107 bytes.")
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

    /// The origins that an override is for; none if it has another form than `host:port`.
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
          The address override "\(place)": "\(text)" cannot be read; it needs the form "host:port": "address", with a \
          name, a port from 1 to 65535, and an address of IPv4 or IPv6, or several with commas between them.
          """)
    }
  }
#endif
