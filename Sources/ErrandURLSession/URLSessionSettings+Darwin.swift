// Not compiled on Linux, where these lines were written: nothing but assignments stands here.
#if canImport(Darwin)
  import Foundation
  import Network
  import Security

  extension URLSessionSettings {
    /// Sets what Apple's URLSession alone knows.
    func apply(to configuration: URLSessionConfiguration, waitsForConnectivity: Bool) {
      configuration.waitsForConnectivity = waitsForConnectivity
      switch minimumTLSVersion {
      case .tls1_2: configuration.tlsMinimumSupportedProtocolVersion = .TLSv12
      case .tls1_3: configuration.tlsMinimumSupportedProtocolVersion = .TLSv13
      case nil: break
      }
      switch proxy {
      case .platform: break
      case .none: configuration.connectionProxyDictionary = [:]
      case .host(let host, let port):
        configuration.connectionProxyDictionary = [
          "HTTPEnable": 1, "HTTPProxy": host, "HTTPPort": port,
          "HTTPSEnable": 1, "HTTPSProxy": host, "HTTPSPort": port,
        ]
      }
    }
  }
#endif
