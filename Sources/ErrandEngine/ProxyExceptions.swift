#if os(Linux)
  import ErrandHTTP

  /// The hosts that are reached without a proxy: the value of the environment variable `no_proxy`, with the rules of
  /// libcurl.
  ///
  /// - `*` means every host.
  /// - A name means the host and its subdomains. Dots at its ends are ignored.
  /// - An address means this address. `10.0.0.0/8` means the addresses with the same first 8 bits.
  ///
  /// Entries are separated by commas or spaces.
  struct ProxyExceptions {
    private typealias Bytes = ArraySlice<UInt8>

    private let entries: [Bytes]

    init(_ text: String) {
      entries = text.utf8.map(ASCII.lowercased).split { $0 == 0x2C || $0 == 0x20 || $0 == 0x09 }
    }

    /// Whether the exceptions contain a host, which must be in lower case. An IPv6 address may be in brackets.
    func contain(_ host: String) -> Bool {
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
      SocketAddress(numeric: String(decoding: text, as: UTF8.self), port: 0)?.bytes.map(Array.init)
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
