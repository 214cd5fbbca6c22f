public import ErrandCore
public import Foundation

#if os(Linux)
  import ErrandEngine
#elseif canImport(Darwin)
  import ErrandURLSession
#endif

extension TransportChoice {
  /// The platform's transport, which trusts only the certificate authorities in a file, and not those of the system.
  ///
  /// ```swift
  /// configuration.transport = try .trusting(authorityFile: "/etc/our/authority.pem")
  /// ```
  ///
  /// Each call of this function makes a transport with connections of its own. To share the connections between
  /// clients, give the same choice to each client. For other settings of TLS, make the transport yourself and use
  /// `.own`.
  /// - Parameter path: The path of a file with one or more certificates in PEM.
  /// - Throws: An error that names the fault if the file cannot be read or contains no certificate.
  public static func trusting(authorityFile path: String) throws -> TransportChoice {
    try trusting(.file(path: path))
  }

  /// The platform's transport, which trusts only the given certificate authorities, and not those of the system; see
  /// ``trusting(authorityFile:)``.
  /// - Parameter pem: One or more certificates in PEM.
  /// - Throws: An error that names the fault if the data contains no certificate.
  public static func trusting(authorities pem: Data) throws -> TransportChoice {
    try trusting(.certificates(pem))
  }

  #if os(Linux)
    private static func trusting(_ authority: CertificateAuthority) throws -> TransportChoice {
      var settings = EngineConfiguration()
      settings.certificateAuthority = authority
      return .own(try EngineTransport(settings))
    }
  #elseif canImport(Darwin)
    private static func trusting(_ authority: URLSessionSettings.CertificateAuthority) throws -> TransportChoice {
      var settings = URLSessionSettings()
      settings.certificateAuthority = authority
      return .own(try URLSessionTransport(settings))
    }
  #endif
}
