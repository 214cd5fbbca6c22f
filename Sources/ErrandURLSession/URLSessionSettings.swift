public import ErrandHTTP
public import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// How ``URLSessionTransport`` reaches servers. What a platform ignores is refused when the transport is made.
///
/// Caches, cookies and credentials of URLSession are off, redirects are Errand's, and the time-outs are those of each
/// call: none of them is a setting.
public struct URLSessionSettings: Sendable, Hashable {
  /// Which proxy requests go through.
  public enum Proxy: Sendable, Hashable {
    /// What the platform says: on Apple platforms the system's settings, on Linux `http_proxy`, `https_proxy`,
    /// `all_proxy` and `no_proxy` of the environment.
    case platform
    /// None. Apple platforms alone.
    case none
    /// One proxy for everything, by host and port. Apple platforms alone.
    case host(String, port: Int)
  }

  /// Who vouches for servers.
  public enum CertificateAuthority: Sendable, Hashable {
    /// The authorities that the system trusts.
    case system
    /// The authorities in a file of PEM certificates, and nobody else.
    case file(path: String)
    /// These authorities in PEM, and nobody else.
    case certificates(Data)
  }

  /// A version of TLS.
  public enum TLSVersion: Sendable, Hashable {
    /// TLS 1.2 (RFC 5246).
    case tls1_2
    /// TLS 1.3 (RFC 8446).
    case tls1_3
  }

  /// A setting that cannot be honoured.
  public struct Invalid: Error, Sendable, Hashable, CustomStringConvertible {
    /// An English sentence that names the setting and the cure.
    public let description: String
  }

  /// The proxy; the platform's where nothing is said.
  public var proxy: Proxy = .platform
  /// The oldest version of TLS that is accepted; nil for what the platform accepts. Apple platforms alone.
  public var minimumTLSVersion: TLSVersion?
  /// Who vouches for servers; the system's authorities where nothing is said. Apple platforms alone.
  public var certificateAuthority: CertificateAuthority = .system
  /// The public keys that hosts may have; others have none pinned. Apple platforms alone.
  public var pins: [PublicKeyPins] = []
  /// The certificates that this side shows to servers that ask; the first one that is for the host counts. Apple
  /// platforms alone, and in PKCS #12 with a passphrase alone.
  public var clientCertificates: [ClientCertificate] = []
  /// How many connections to one host may stand at a time, over HTTP/1.1; nil for what the platform allows.
  public var connectionsPerHost: Int?

  /// Makes the standard settings.
  public init() {}

  /// Throws where a setting cannot be honoured on a platform.
  func validate(on platform: SessionPlatform) throws(Invalid) {
    if let connectionsPerHost, connectionsPerHost < 1 || connectionsPerHost > 1_000 {
      throw Invalid(description: "`connectionsPerHost` must be a number from 1 to 1000.")
    }
    if case .host(let host, let port) = proxy {
      guard !host.isEmpty, host.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != 0x2F && $0 != 0x40 }),
        (1...65_535).contains(port)
      else {
        throw Invalid(description: "`proxy` must name a host without scheme and user, and a port from 1 to 65535.")
      }
    }
    if platform.takesProxyAndTLS { return }
    let ignored = [
      ("proxy", proxy != .platform, "`.platform`"), ("minimumTLSVersion", minimumTLSVersion != nil, "nil"),
      ("certificateAuthority", certificateAuthority != .system, "`.system`"), ("pins", !pins.isEmpty, "none"),
      ("clientCertificates", !clientCertificates.isEmpty, "none"),
    ]
    for (name, isSet, rest) in ignored where isSet {
      throw Invalid(
        description:
          "URLSession ignores `\(name)` on Linux; leave it at \(rest), or take the transport on libcurl.")
    }
  }
}

extension URLSessionSettings {
  /// URLSession's configuration: nothing is kept, and nothing is done that is the line's.
  func configuration(waits: Bool = false) -> URLSessionConfiguration {
    let configuration = URLSessionConfiguration.ephemeral
    apply(to: configuration, waits: waits)
    return configuration
  }

  /// Puts them into a configuration of any kind.
  func apply(to configuration: URLSessionConfiguration, waits: Bool = false) {
    configuration.urlCache = nil
    configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
    configuration.httpCookieStorage = nil
    configuration.httpCookieAcceptPolicy = .never
    configuration.httpShouldSetCookies = false
    configuration.urlCredentialStorage = nil
    // Silence and the deadline are watched by the exchange: exactly, and never cut to whole seconds.
    configuration.timeoutIntervalForRequest = SessionOrder.patience
    configuration.timeoutIntervalForResource = SessionOrder.patience
    if let connectionsPerHost { configuration.httpMaximumConnectionsPerHost = connectionsPerHost }
    #if canImport(Darwin)
      SessionChoices(self, waits: waits).apply(to: configuration)
    #endif
  }
}
