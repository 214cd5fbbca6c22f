#if os(Linux)
  import ErrandHTTP
  import ErrandTLS

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
