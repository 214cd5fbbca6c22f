#if os(Linux)
  import ErrandHTTP

  /// Asks a custom resolver for the addresses of one exchange's host.
  struct CurlResolving {
    private let exchange: Exchange
    private let host: String
    private let port: Int
    private let isAsked: Bool

    init(_ exchange: Exchange, _ configuration: CurlConfiguration) {
      self.exchange = exchange
      host = exchange.request.url.host
      port = exchange.request.url.origin.port
      let isNumber = host.hasPrefix("[") || CurlAddress(host) != nil
      isAsked =
        !isNumber && configuration.proxy == .none && configuration.unixSocket == nil
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
