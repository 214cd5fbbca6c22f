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
