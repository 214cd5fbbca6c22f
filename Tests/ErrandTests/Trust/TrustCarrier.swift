import Errand
import ErrandCurl
import ErrandEngine
import ErrandHTTP

/// The trust settings that the transports of Linux have in common.
protocol TrustConfiguration: Sendable {
  var certificateAuthority: CertificateAuthority { get set }
  var pins: [PublicKeyPins] { get set }
  var clientCertificates: [ClientCertificate] { get set }
  var minimumTLSVersion: TLSVersion { get set }
  var addressPolicy: AddressPolicy { get set }
  var addressOverrides: [String: String] { get set }
  var unixSocket: String? { get set }
  var maximumIdleConnections: Int { get set }
  var proxy: TransportProxy { get set }
  var httpVersion: HTTPVersionPolicy { get set }
}

extension CurlConfiguration: TrustConfiguration {}
extension EngineConfiguration: TrustConfiguration {}

/// The error for an invalid setting of a transport.
protocol InvalidSettings: Error, CustomStringConvertible {}

extension CurlConfiguration.Invalid: InvalidSettings {}
extension EngineConfiguration.Invalid: InvalidSettings {}

/// A transport whose trust settings can change.
protocol TrustTransport: Transport {
  associatedtype Configuration: TrustConfiguration
  var configuration: Configuration { get }
  func update(_ configuration: Configuration) throws
  func reload() throws
}

extension CurlTransport: TrustTransport {}
extension EngineTransport: TrustTransport {}

extension TrustTransport {
  var settings: any TrustConfiguration { configuration }

  func change(_ change: (inout any TrustConfiguration) throws -> Void) throws {
    var settings = settings
    try change(&settings)
    if let configuration = settings as? Configuration { try update(configuration) }
  }
}

/// The transports of Linux. Tests of trust run on each of them.
enum TrustCarrier: CaseIterable {
  case curl
  case engine

  /// A transport with changed standard settings.
  func transport(
    resolver: (any NameResolver)? = nil, _ change: (inout any TrustConfiguration) throws -> Void = { _ in }
  ) throws -> any TrustTransport {
    let transport: any TrustTransport =
      switch self {
      case .curl: try CurlTransport(CurlConfiguration(), resolver: resolver)
      case .engine: try EngineTransport(EngineConfiguration(), resolver: resolver)
      }
    try transport.change(change)
    return transport
  }
}
