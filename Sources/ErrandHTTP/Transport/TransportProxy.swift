import ErrandSupport

/// The proxy for requests.
public enum TransportProxy: Sendable, Hashable {
  /// No proxy is used, even if environment variables name a proxy.
  case none
  /// One proxy for all requests. The scheme of the URL is `http`, `https`, `socks4`, `socks4a`, `socks5` or `socks5h`.
  /// Not every transport supports every scheme. On Linux the user and the password are used only after the proxy has
  /// responded with status 407, by Digest if the proxy offers it.
  case url(String, user: String? = nil, password: String? = nil)
  /// The environment variables `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy` decide which proxy is used.
  case environment
}

extension TransportProxy: ComparedByBytes {
  package var identity: some Hashable {
    let (kind, texts): (Int, [String?]) =
      switch self {
      case .none: (0, [])
      case .environment: (1, [])
      case .url(let url, let user, let password): (2, [url, user, password])
      }
    return Parts(kind, texts.map { $0.map { ByteText($0) } })
  }
}

extension TransportProxy: Masked {
  /// The proxy with masked credentials.
  public var description: String {
    switch self {
    case .none: "none"
    case .environment: "environment"
    case .url(let url, let user, _): Redaction.url(url) + (user == nil ? "" : " with credentials")
    }
  }
}

extension TransportProxy {
  /// A sentence about a proxy that cannot be used, or about settings that cannot be enforced with a proxy, because the
  /// proxy resolves names and connects to servers itself. Nil if there is no such fault.
  package func fault(
    with policy: AddressPolicy, _ authority: CertificateAuthority, unixSocket: String?
  ) -> String? {
    if self == .none { return nil }
    if case .url(let url, _, _) = self, ProxyAddress(url) == nil {
      return "The proxy's URL must have the form http://host:port; pass its user and password separately."
    }
    if case .url(_, let user?, _) = self, user.utf8.contains(0x3A) {
      return "The user of `proxy` must not contain a colon (RFC 7617 section 2); pass the password separately."
    }
    if policy != .any {
      return """
        `addressPolicy` cannot be enforced with a proxy, which resolves names itself; set `proxy` to `.none`, or let \
        the proxy reject private addresses.
        """
    }
    if authority.isForTests {
      return """
        A test authority (`.test`) allows only loopback addresses, but a proxy may connect to other addresses; set \
        `certificateAuthority` to `.file` or `.certificates`.
        """
    }
    return unixSocket == nil ? nil : "`unixSocket` and `proxy` exclude each other; remove one of them."
  }
}

/// The address of a proxy, from a URL without a user name and a password.
package struct ProxyAddress: Sendable, Hashable {
  package enum Scheme: String, Sendable, CaseIterable { case http, https, socks4, socks4a, socks5, socks5h }

  package let scheme: Scheme
  /// The host and the port of the proxy. The scheme of this origin is always `http`.
  package let origin: HTTPURL.Origin

  /// Parses a URL such as `http://proxy.example:3128`. The path is ignored. Without a port, the port is that of
  /// libcurl: 443 for `https`, otherwise 1080. Nil if the URL is no address of a proxy.
  package init?(_ url: String) {
    let utf8 = Array(url.utf8)
    guard
      let scheme = Scheme.allCases.first(where: { scheme in
        let start = Array("\(scheme.rawValue)://".utf8)
        return utf8.count > start.count && ASCII.equalFolded(utf8[..<start.count], start)
      })
    else { return nil }
    let authority = utf8[(scheme.rawValue.utf8.count + 3)...].prefix { $0 != 0x2F }
    guard let last = authority.last, last != 0x3A, !authority.contains(where: { $0 == 0x3F || $0 == 0x23 }) else {
      return nil
    }
    let hasPort = (authority.lastIndex(of: 0x3A) ?? -1) > (authority.lastIndex(of: 0x5D) ?? -1)
    let port = hasPort ? "" : scheme == .https ? ":443" : ":1080"
    guard let url = try? HTTPURL("http://\(String(decoding: authority, as: UTF8.self))\(port)/") else { return nil }
    self.scheme = scheme
    origin = url.origin
  }
}
