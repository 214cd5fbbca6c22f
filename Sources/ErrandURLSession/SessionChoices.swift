/// What a session is told beyond what URLSession knows on every platform: chosen here, and only copied where Apple
/// compiles.
struct SessionChoices: Equatable {
  /// Whether its tasks wait for a network.
  let waitsForConnectivity: Bool
  /// The oldest version of TLS, by its number on the wire (RFC 8446 section 4.2.1); nil leaves the platform's.
  let minimumTLS: UInt16?
  /// The proxy, by the keys of CFNetwork; empty for none, nil leaves the platform's.
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
