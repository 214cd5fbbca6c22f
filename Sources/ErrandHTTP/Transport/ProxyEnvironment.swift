#if os(Linux)
  import ErrandSupport
  import Foundation

  extension TransportProxy {
    /// The proxy for requests to an origin: never ``environment``. If the environment chooses, the result is the proxy
    /// that its variables name now, or ``none``.
    ///
    /// The rules are those of libcurl. The variable `HTTP_PROXY` is ignored, because a client can set it in CGI
    /// programs.
    /// - Parameter environment: The value of an environment variable.
    package func chosen(
      for origin: HTTPURL.Origin, environment: (String) -> String? = Self.variable
    ) -> TransportProxy {
      guard case .environment = self else { return self }
      let names =
        origin.scheme == .https
        ? ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"] : ["http_proxy", "all_proxy", "ALL_PROXY"]
      func value(_ name: String) -> String? { environment(name).flatMap { $0.isEmpty ? nil : $0 } }
      guard let url = names.compactMap(value).first else { return .none }
      let exceptions = value("no_proxy") ?? value("NO_PROXY") ?? ""
      return ProxyExceptions(exceptions).contain(origin.host) ? .none : Self.named(url)
    }

    /// The value of an environment variable of this process.
    package static func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

    /// Makes a proxy from the URL in an environment variable. The scheme may be missing. The URL may contain a
    /// percent-encoded user name and password.
    private static func named(_ url: String) -> TransportProxy {
      let utf8 = Array(url.utf8)
      let scheme = HTTPURL.isAbsolute(url) ? utf8.prefix { $0 != 0x3A } + Array("://".utf8) : Array("http://".utf8)[...]
      let rest = HTTPURL.isAbsolute(url) ? utf8.dropFirst(scheme.count) : utf8[...]
      let authority = rest.prefix { $0 != 0x2F }
      guard let at = authority.lastIndex(of: 0x40) else { return .url(text(scheme + rest)) }
      let parts = authority[..<at].split(separator: 0x3A, maxSplits: 1, omittingEmptySubsequences: false)
      return .url(
        text(scheme + authority[(at + 1)...]), user: decoded(parts.first),
        password: parts.count > 1 ? decoded(parts[1]) : nil)
    }

    private static func text(_ bytes: some Sequence<UInt8>) -> String { String(decoding: Array(bytes), as: UTF8.self) }

    private static func decoded(_ bytes: ArraySlice<UInt8>?) -> String? {
      bytes.map { text($0) }.map { $0.removingPercentEncoding ?? $0 }
    }
  }

  /// The hosts that are reached without a proxy: the value of the environment variable `no_proxy`, with the rules of
  /// libcurl.
  ///
  /// - `*` means every host.
  /// - A name means the host and its subdomains. Dots at its ends are ignored.
  /// - An address means this address. `10.0.0.0/8` means the addresses with the same first 8 bits.
  ///
  /// Entries are separated by commas or spaces.
  package struct ProxyExceptions {
    private typealias Bytes = ArraySlice<UInt8>

    private let entries: [Bytes]

    package init(_ text: String) {
      entries = text.utf8.map(ASCII.lowercased).split { $0 == 0x2C || $0 == 0x20 || $0 == 0x09 }
    }

    /// Whether the exceptions contain a host, which must be in lower case. An IPv6 address may be in brackets.
    package func contain(_ host: String) -> Bool {
      if entries.count == 1, entries[0].elementsEqual("*".utf8) { return true }
      let host = Array(host.utf8)[...]
      if let address = Self.address(host) { return entries.contains { Self.matches(address, $0) } }
      let name = Self.withoutLastDot(host)
      return entries.contains { entry in
        let domain = Self.withoutLastDot(entry.drop { $0 == 0x2E })
        guard !domain.isEmpty, name.count >= domain.count, name.suffix(domain.count).elementsEqual(domain) else {
          return false
        }
        return name.count == domain.count || name.dropLast(domain.count).last == 0x2E
      }
    }

    private static func withoutLastDot(_ text: Bytes) -> Bytes { text.last == 0x2E ? text.dropLast() : text }

    /// The bytes of a numeric IP address, which may be in brackets. Nil if the text is a name.
    private static func address(_ text: Bytes) -> [UInt8]? {
      let isInBrackets = text.first == 0x5B && text.last == 0x5D
      let text = String(decoding: isInBrackets ? text.dropFirst().dropLast() : text, as: UTF8.self)
      guard !text.utf8.contains(0) else { return nil }
      for (family, count) in [(AF_INET, 4), (AF_INET6, 16)] {
        var bytes = [UInt8](repeating: 0, count: count)
        if inet_pton(family, text, &bytes) == 1 { return bytes }
      }
      return nil
    }

    private static func matches(_ address: [UInt8], _ entry: Bytes) -> Bool {
      let parts = entry.split(separator: 0x2F, maxSplits: 1, omittingEmptySubsequences: false)
      guard let other = Self.address(parts[0]), other.count == address.count else { return false }
      guard parts.count == 2 else { return other == address }
      guard let bits = Int(String(decoding: parts[1], as: UTF8.self)), (1...(address.count * 8)).contains(bits) else {
        return false
      }
      let (whole, rest) = (bits / 8, bits % 8)
      guard address[..<whole] == other[..<whole] else { return false }
      return rest == 0 || (address[whole] ^ other[whole]) >> UInt8(8 - rest) == 0
    }
  }
#endif
