// On Linux this file is only type-checked against stubs (Scripts/apple.py), never run. It only copies values that
// `SessionChoices` has computed.
#if canImport(Darwin)
  import Foundation
  import Security

  extension SessionChoices {
    func apply(to configuration: URLSessionConfiguration) {
      configuration.waitsForConnectivity = waitsForConnectivity
      if let version = minimumTLS.flatMap(tls_protocol_version_t.init(rawValue:)) {
        configuration.tlsMinimumSupportedProtocolVersion = version
      }
      if let proxy { configuration.connectionProxyDictionary = proxy.mapValues(\.base) }
    }
  }
#endif
