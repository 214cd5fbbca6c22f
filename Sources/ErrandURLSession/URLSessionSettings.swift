public import ErrandHTTP
public import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// How ``URLSessionTransport`` reaches servers. If a platform would ignore a setting, the transport cannot be created
/// with this setting.
///
/// Some things cannot be set: URLSession's own caches, cookies and credentials are off, Errand handles redirects, and
/// each call has its own time-outs.
public struct URLSessionSettings: Sendable, Hashable {
  /// The choice of a proxy.
  public enum Proxy: Sendable, Hashable {
    /// The platform's choice: on Apple platforms the system's settings, on Linux the environment variables
    /// `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy`.
    case platform
    /// No proxy. Only on Apple platforms.
    case none
    /// One proxy for all requests, given by host and port. Only on Apple platforms.
    case host(String, port: Int)
  }

  /// The certificate authorities that are trusted.
  public enum CertificateAuthority: Sendable, Hashable {
    /// The authorities that the system trusts.
    case system
    /// Only the authorities in a file of PEM certificates.
    case file(path: String)
    /// Only the authorities in these PEM certificates.
    case certificates(Data)
  }

  /// A version of TLS.
  public enum TLSVersion: Sendable, Hashable {
    /// TLS 1.2 (RFC 5246).
    case tls1_2
    /// TLS 1.3 (RFC 8446).
    case tls1_3
  }

  /// A setting that the platform does not support, or whose value is invalid.
  public struct Invalid: Error, Sendable, Hashable, CustomStringConvertible {
    /// A sentence that names the setting and the remedy.
    public let description: String
  }

  /// The proxy. The default is the platform's proxy.
  public var proxy: Proxy = .platform
  /// The oldest version of TLS that is accepted; nil for the platform's minimum. Only on Apple platforms.
  public var minimumTLSVersion: TLSVersion?
  /// The trusted authorities. The default is those of the system. Other values only on Apple platforms.
  public var certificateAuthority: CertificateAuthority = .system
  /// The public keys that hosts may have. Hosts that are not listed may have any key. Only on Apple platforms.
  public var pins: [PublicKeyPins] = []
  /// The certificates that the client sends to servers that ask for one. The first certificate that fits the host is
  /// sent. Only on Apple platforms, and only in PKCS #12 with a passphrase.
  public var clientCertificates: [ClientCertificate] = []
  /// The maximum number of simultaneous connections to one host over HTTP/1.1; nil for the platform's limit.
  public var connectionsPerHost: Int?

  /// Makes the default settings.
  public init() {}

  /// Throws if the platform does not support a setting, or a value is invalid.
  func validate(on platform: SessionPlatform) throws(Invalid) {
    if let connectionsPerHost, connectionsPerHost < 1 || connectionsPerHost > 1_000 {
      throw Invalid(description: "`connectionsPerHost` must be a number from 1 to 1000.")
    }
    if case .host(let host, let port) = proxy {
      guard !host.isEmpty, host.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != 0x2F && $0 != 0x40 }),
        (1...65_535).contains(port)
      else {
        throw Invalid(description: "`proxy` must have a host without scheme and user, and a port from 1 to 65535.")
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
          "URLSession ignores `\(name)` on Linux; leave it at \(rest), or use the libcurl transport.")
    }
  }
}

extension URLSessionSettings {
  /// The configuration of a session that stores nothing. Everything that Errand's interceptors do is off in URLSession.
  func configuration(waits: Bool = false) -> URLSessionConfiguration {
    let configuration = URLSessionConfiguration.ephemeral
    apply(to: configuration, waits: waits)
    return configuration
  }

  /// Copies the settings to a configuration, which can also be that of a background session.
  func apply(to configuration: URLSessionConfiguration, waits: Bool = false) {
    configuration.urlCache = nil
    configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
    configuration.httpCookieStorage = nil
    configuration.httpCookieAcceptPolicy = .never
    configuration.httpShouldSetCookies = false
    configuration.urlCredentialStorage = nil
    // URLSession's time-outs are so long that they have no effect. The exchange checks its idle time-out and its
    // deadline itself, exactly and not in whole seconds.
    configuration.timeoutIntervalForRequest = SessionOrder.patience
    configuration.timeoutIntervalForResource = SessionOrder.patience
    if let connectionsPerHost { configuration.httpMaximumConnectionsPerHost = connectionsPerHost }
    #if canImport(Darwin)
      SessionChoices(self, waits: waits).apply(to: configuration)
    #endif
  }
}
