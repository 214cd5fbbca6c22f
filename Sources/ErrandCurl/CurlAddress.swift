#if os(Linux)
  import CCurl
  import CErrandCurl
  import ErrandHTTP
  import Glibc

  /// The bytes of an IP address: 4 bytes for IPv4, 16 bytes for IPv6.
  struct CurlAddress: Sendable {
    let bytes: [UInt8]

    /// Copies the address that libcurl is about to connect to. Returns nil if the address is not an IP address.
    init?(_ address: UnsafePointer<curl_sockaddr>) {
      self.init { errand_address_bytes(address, $0) }
    }

    /// Parses a numeric address without brackets. Returns nil for any other text.
    init?(_ text: String) {
      guard !text.utf8.contains(0) else { return nil }
      self.init { errand_address_parse(text, $0) }
    }

    /// Parses an address in any numeric form that the system accepts, such as 127.1. Returns nil for a host name.
    init?(anyForm text: String) {
      self.init { buffer in
        var four = in_addr()
        guard !text.utf8.contains(0) else { return 0 }
        guard inet_aton(text, &four) != 0 else { return errand_address_parse(text, buffer) }
        let bytes = withUnsafeBytes(of: four.s_addr, Array.init)
        UnsafeMutableRawBufferPointer(start: buffer, count: bytes.count).copyBytes(from: bytes)
        return bytes.count
      }
    }

    private init?(_ fill: (UnsafeMutablePointer<UInt8>?) -> Int) {
      var buffer = [UInt8](repeating: 0, count: 16)
      let count = buffer.withUnsafeMutableBufferPointer { fill($0.baseAddress) }
      guard count > 0 else { return nil }
      bytes = Array(buffer[..<count])
    }

    var kind: AddressKind? { AddressKind(bytes: bytes) }

    /// The address in its usual text form.
    var text: String {
      var buffer = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
      let family = bytes.count == 4 ? AF_INET : AF_INET6
      guard inet_ntop(family, bytes, &buffer, socklen_t(buffer.count)) != nil else { return "?" }
      return buffer.withUnsafeBytes { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }
  }

  /// Asks a custom resolver for the addresses of one exchange's host.
  struct CurlResolving {
    private let exchange: Exchange
    private let host: String
    private let port: Int
    private let isAsked: Bool

    init(_ exchange: Exchange, _ loop: CurlLoop) {
      let configuration = loop.configuration
      self.exchange = exchange
      host = exchange.request.url.host
      port = exchange.request.url.origin.port
      let isNumber = host.hasPrefix("[") || CurlAddress(host) != nil
      isAsked =
        !isNumber && configuration.unixSocket == nil
        && configuration.proxy.chosen(for: exchange.request.url.origin, environment: loop.environment) == .none
        && !configuration.addressOverrides.keys.contains { [host, port] in $0.lowercased() == "\(host):\(port)" }
    }

    /// Returns the resolver's addresses in libcurl's format. Nil if no resolver is needed. Throws at once if the call
    /// is stopped or the connect time-out ends.
    func addresses(by resolver: any NameResolver) async throws -> String? {
      guard isAsked else { return nil }
      let found = try await ResolverLookup(exchange).addresses(by: resolver) { CurlAddress($0) != nil }
      // With the plus sign, the address expires in libcurl's DNS cache as usual. Without the sign, the address never
      // expires.
      return "+\(host):\(port):\(found.joined(separator: ","))"
    }
  }
#endif
