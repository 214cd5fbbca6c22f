#if os(Linux)
  import ErrandHTTP
  import Foundation

  /// The HTTP proxy of one exchange.
  struct EngineProxy: Sendable, Hashable, CustomReflectable {
    /// The host and the port of the proxy.
    let origin: HTTPURL.Origin
    /// The user and the password. Nil if none are set.
    let credentials: ProxyCredentials?

    /// The mirror for `dump(_:)`, without the credentials.
    var customMirror: Mirror { Mirror(self, children: ["origin": origin.description], displayStyle: .struct) }

    /// Returns the proxy for an exchange with an origin. Returns nil if the exchange needs no proxy.
    /// - Parameter environment: The value of an environment variable.
    /// - Throws: A failure of the kind `unsupported` if the proxy is no HTTP proxy.
    static func of(
      _ setting: TransportProxy, for origin: HTTPURL.Origin, environment: (String) -> String? = Self.variable
    ) throws(TransportFailure) -> EngineProxy? {
      switch setting {
      case .none: nil
      case .url(let url, let user, let password): try EngineProxy(url, user, password, for: origin)
      case .environment:
        if let url = chosenURL(for: origin, environment) {
          try fromEnvironment(url, for: origin)
        } else {
          nil
        }
      }
    }

    private init(
      _ url: String, _ user: String?, _ password: String?, for origin: HTTPURL.Origin
    ) throws(TransportFailure) {
      guard let address = ProxyAddress(url) else {
        throw TransportFailure(.proxy, FailureText.sentence(for: .proxy, origin: origin), isCertainlyNotSent: true)
      }
      guard address.scheme == .http else {
        throw TransportFailure(
          .unsupported,
          "The engine supports no proxies with the scheme \(address.scheme.rawValue); choose the transport \"curl\".",
          isCertainlyNotSent: true)
      }
      self.origin = address.origin
      credentials = ProxyCredentials(user, password)
    }

    // MARK: - The environment

    private static func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

    /// The URL of the proxy that environment variables name for an origin, with libcurl's rules. The variable
    /// `HTTP_PROXY` is ignored, because a client can set it in CGI programs. Nil if no proxy is named.
    private static func chosenURL(for origin: HTTPURL.Origin, _ environment: (String) -> String?) -> String? {
      let names =
        origin.scheme == .https
        ? ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"] : ["http_proxy", "all_proxy", "ALL_PROXY"]
      func value(_ name: String) -> String? { environment(name).flatMap { $0.isEmpty ? nil : $0 } }
      guard let url = names.compactMap(value).first else { return nil }
      let exceptions = value("no_proxy") ?? value("NO_PROXY") ?? ""
      return ProxyExceptions(exceptions).contain(origin.host) ? nil : url
    }

    /// Makes a proxy from the URL in an environment variable. The scheme may be missing. The URL may contain a
    /// percent-encoded user name and password.
    private static func fromEnvironment(
      _ url: String, for origin: HTTPURL.Origin
    ) throws(TransportFailure) -> EngineProxy {
      let utf8 = Array(url.utf8)
      let scheme = HTTPURL.isAbsolute(url) ? utf8.prefix { $0 != 0x3A } + Array("://".utf8) : Array("http://".utf8)[...]
      let rest = HTTPURL.isAbsolute(url) ? utf8.dropFirst(scheme.count) : utf8[...]
      let authority = rest.prefix { $0 != 0x2F }
      guard let at = authority.lastIndex(of: 0x40) else {
        return try EngineProxy(text(scheme + rest), nil, nil, for: origin)
      }
      let parts = authority[..<at].split(separator: 0x3A, maxSplits: 1, omittingEmptySubsequences: false)
      return try EngineProxy(
        text(scheme + authority[(at + 1)...]), decoded(parts.first), parts.count > 1 ? decoded(parts[1]) : nil,
        for: origin)
    }

    private static func text(_ bytes: some Sequence<UInt8>) -> String { String(decoding: Array(bytes), as: UTF8.self) }

    private static func decoded(_ bytes: ArraySlice<UInt8>?) -> String? {
      bytes.map { text($0) }.map { $0.removingPercentEncoding ?? $0 }
    }
  }
#endif
