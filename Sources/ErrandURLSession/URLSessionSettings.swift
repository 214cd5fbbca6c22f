public import ErrandHTTP
import ErrandSupport
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
    /// The platform chooses the proxy. Apple platforms use the settings of the system. Linux uses the environment
    /// variables `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy`.
    case platform
    /// No proxy is used. This choice is available only on Apple platforms.
    case none
    /// One proxy, given by host and port, is used for all requests. This choice is available only on Apple platforms.
    case host(String, port: Int)
  }

  /// The certificate authorities that are trusted.
  public enum CertificateAuthority: Sendable, Hashable {
    /// The authorities of the operating system are trusted.
    case system
    /// Only the authorities in this file of PEM certificates are trusted.
    case file(path: String)
    /// Only the authorities in these PEM certificates are trusted.
    case certificates(Data)

    /// Whether both values are equal. Paths are compared byte by byte.
    public static func == (left: CertificateAuthority, right: CertificateAuthority) -> Bool {
      switch (left, right) {
      case (.system, .system): true
      case (.file(let path), .file(let other)): path.hasSameBytes(as: other)
      case (.certificates(let data), .certificates(let other)): data == other
      case (.system, _), (.file, _), (.certificates, _): false
      }
    }

    /// Hashes the bytes of the path or of the certificates.
    public func hash(into hasher: inout Hasher) {
      switch self {
      case .system: hasher.combine(0)
      case .file(let path): hasher.combine(ByteText(path))
      case .certificates(let data): hasher.combine(data)
      }
    }
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
    /// A sentence that names the setting and says how to correct it.
    public let description: String
  }

  /// The proxy. The default is the platform's proxy.
  public var proxy: Proxy = .platform
  /// The oldest version of TLS that is accepted; nil for the platform's minimum. This setting is available only on
  /// Apple platforms.
  public var minimumTLSVersion: TLSVersion?
  /// The trusted authorities. The default is those of the system. Other values are available only on Apple platforms.
  public var certificateAuthority: CertificateAuthority = .system
  /// The public keys that hosts may have. Hosts that are not listed may have any key. This setting is available only on
  /// Apple platforms.
  public var pins: [PublicKeyPins] = []
  /// The certificates that the client sends to servers that ask for one. The first certificate that fits the host is
  /// sent. This setting is available only on Apple platforms, and a certificate must be in PKCS #12 with a passphrase.
  public var clientCertificates: [ClientCertificate] = []
  /// The maximum number of simultaneous connections to one host over HTTP/1.1; nil for the platform's limit, which is 6
  /// or, on iOS, 4. Further requests wait inside URLSession, and this time counts for the idle time-out.
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
          "URLSession ignores `\(name)` on Linux; keep the default (\(rest)), or use the engine or the libcurl "
          + "transport.")
    }
  }
}

extension URLSessionSettings {
  /// The configuration of a session that stores nothing. All features of URLSession that Errand's interceptors provide,
  /// such as cookies and the cache, are off.
  func configuration(waits: Bool = false) -> URLSessionConfiguration {
    let configuration = URLSessionConfiguration.ephemeral
    apply(to: configuration, waits: waits)
    return configuration
  }

  /// Copies the settings to a configuration, which can also be that of a background session.
  /// - Parameter patience: The time in seconds without transferred bytes after which URLSession ends a task.
  func apply(
    to configuration: URLSessionConfiguration, waits: Bool = false, patience: TimeInterval = SessionOrder.patience
  ) {
    configuration.urlCache = nil
    configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
    configuration.httpCookieStorage = nil
    configuration.httpCookieAcceptPolicy = .never
    configuration.httpShouldSetCookies = false
    configuration.urlCredentialStorage = nil
    // Except in background sessions, URLSession's time-outs are so long that they have no effect. The exchange checks
    // its idle time-out and its deadline itself, exactly and not in whole seconds.
    configuration.timeoutIntervalForRequest = patience
    configuration.timeoutIntervalForResource = SessionOrder.patience
    if let connectionsPerHost { configuration.httpMaximumConnectionsPerHost = connectionsPerHost }
    #if canImport(Darwin)
      SessionChoices(self, waits: waits).apply(to: configuration)
    #endif
  }
}

/// The settings of a URLSession that exist only on Apple platforms. They are computed on every platform, so that they
/// can be tested, but are used only on Apple platforms.
struct SessionChoices: Equatable {
  /// Whether URLSession tasks wait for a network connection if there is none.
  let waitsForConnectivity: Bool
  /// The minimum version of TLS as its protocol number (RFC 8446 section 4.2.1); nil for the platform's minimum.
  let minimumTLS: UInt16?
  /// The proxy, with the keys of CFNetwork. Empty for no proxy; nil for the platform's proxy.
  let proxy: [String: AnyHashable]?

  init(_ settings: URLSessionSettings, waits: Bool = false) {
    waitsForConnectivity = waits
    minimumTLS =
      switch settings.minimumTLSVersion {
      case .tls1_2: 0x0303
      case .tls1_3: 0x0304
      case nil: nil
      }
    proxy =
      switch settings.proxy {
      case .platform: nil
      case .none: [:]
      case .host(let host, let port):
        [
          "HTTPEnable": 1, "HTTPProxy": host, "HTTPPort": port,
          "HTTPSEnable": 1, "HTTPSProxy": host, "HTTPSPort": port,
        ]
      }
  }
}
