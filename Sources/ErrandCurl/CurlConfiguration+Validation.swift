#if os(Linux)
  import ErrandHTTP
  import ErrandTLS

  extension CurlConfiguration {
    /// The maximum length of a Unix socket's path in bytes. The system accepts no longer paths.
    private static let longestSocketPath = 107

    /// Throws an error if a setting is invalid. `TrustSettings` checks the certificate files and the keys.
    func validate() throws(Invalid) {
      if case .url(let url, let user, let password) = proxy {
        try Self.validate(proxy: url)
        for text in [user, password] { try text.map(Self.check) }
      }
      for (place, addresses) in addressOverrides { try Self.validate(override: place, addresses) }
      guard maximumIdleConnections > 0, maximumIdleAge > .zero else {
        throw Invalid(description: "`maximumIdleConnections` and `maximumIdleAge` must be greater than zero.")
      }
      if let unixSocket { try Self.validate(socket: unixSocket) }
      if proxy != .none { try validateWithProxy() }
    }

    /// Rejects settings that cannot be enforced with a proxy, because the proxy resolves names and connects to servers
    /// itself.
    private func validateWithProxy() throws(Invalid) {
      guard addressPolicy == .any else {
        throw Invalid(
          description: """
            `addressPolicy` cannot be enforced with a proxy, which resolves names itself; set `proxy` to `.none`, or \
            let the proxy reject private addresses.
            """)
      }
      guard !certificateAuthority.isForTests else {
        throw Invalid(
          description: """
            A test authority (`.test`) allows only loopback addresses, but a proxy may connect to other addresses; set \
            `certificateAuthority` to `.file` or `.certificates`.
            """)
      }
      guard unixSocket == nil else {
        throw Invalid(description: "`unixSocket` and `proxy` exclude each other; remove one of them.")
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

    /// Searches for Unicode scalars. In a Swift string, an at sign and a combining mark after it are one `Character`,
    /// but for libcurl the at sign ends a user name.
    private static func validate(proxy url: String) throws(Invalid) {
      try check(url)
      let schemes = ["http://", "https://", "socks4://", "socks4a://", "socks5://", "socks5h://"]
      guard let scheme = schemes.first(where: { url.lowercased().hasPrefix($0) }), !url.unicodeScalars.contains("@"),
        isAuthority(Substring(url.dropFirst(scheme.count).unicodeScalars.prefix { $0 != "/" }))
      else {
        throw Invalid(
          description: "The proxy's URL must have the form http://host:port; pass its user and password separately.")
      }
    }

    /// Whether a text is a host with an optional port.
    private static func isAuthority(_ text: Substring) -> Bool {
      guard text.utf8.first == UInt8(ascii: "[") else {
        let parts = text.unicodeScalars.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
          .map { Substring($0) }
        guard let host = parts.first, !host.isEmpty, !host.contains(where: \.isWhitespace) else { return false }
        return parts.count == 1 || isPort(parts[1])
      }
      guard let end = text.firstIndex(of: "]"), isAddress(text[...end]) else { return false }
      let rest = text[text.index(after: end)...]
      return rest.isEmpty || rest.hasPrefix(":") && isPort(rest.dropFirst())
    }

    static func check(_ text: String) throws(Invalid) {
      guard text.utf8.allSatisfy({ $0 > 0x1F && $0 != 0x7F }) else {
        throw Invalid(description: TrustFiles.controlCharacter)
      }
    }
  }
#endif
