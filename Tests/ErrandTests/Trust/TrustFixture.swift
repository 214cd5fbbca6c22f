import Errand
import ErrandCurl
import ErrandHTTP
import Foundation
import Testing

/// Clients with different trust settings, and the certificates that the test script creates.
enum TrustFixture {
  /// A file in the folder of certificates.
  static func path(_ name: String) throws -> String { try Servers.address("ERRAND_CERTIFICATES") + "/" + name }

  static func data(_ name: String) throws -> Data { try Data(contentsOf: URL(fileURLWithPath: path(name))) }

  /// A PEM certificate with one changed character, so that it cannot be read.
  static func damaged(_ name: String, with character: String = "!") throws -> Data {
    let text = String(decoding: try data(name), as: UTF8.self)
    // Every certificate begins with these letters, because it is a sequence of more than 255 bytes.
    let damaged = text.replacing("\nMII", with: "\n\(character)II")
    try #require(damaged != text)
    return Data(damaged.utf8)
  }

  /// The pin of a certificate's public key, as computed by openssl.
  static func pin(_ name: String) throws -> String {
    try String(decoding: data(name + ".pin"), as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
  }

  /// A pin that matches no key.
  static let strangePin = Data(repeating: 7, count: 32).base64EncodedString()

  /// A second pin that matches no key.
  static let sparePin = Data(repeating: 8, count: 32).base64EncodedString()

  /// A transport that trusts the authority of the tests by default.
  static func transport(
    _ carrier: TrustCarrier, resolver: (any NameResolver)? = nil,
    _ change: (inout any TrustConfiguration) throws -> Void = { _ in }
  ) throws -> any TrustTransport {
    let authority = try path("ca.pem")
    return try carrier.transport(resolver: resolver) {
      $0.certificateAuthority = .file(path: authority)
      try change(&$0)
    }
  }

  static func client(_ base: String, _ transport: any Transport) -> APIClient {
    var configuration = ClientConfiguration(baseURL: base)
    configuration.transport = .own(transport)
    return APIClient(configuration)
  }

  /// A client for the server whose address is in an environment variable.
  static func client(
    _ variable: String, _ carrier: TrustCarrier, _ change: (inout any TrustConfiguration) throws -> Void = { _ in }
  ) throws -> APIClient {
    try client(Servers.address(variable), transport(carrier, change))
  }

  /// A client on libcurl, for settings that only libcurl has.
  static func curlClient(_ variable: String, _ change: (inout CurlConfiguration) throws -> Void) throws -> APIClient {
    var configuration = CurlConfiguration()
    configuration.certificateAuthority = .file(path: try path("ca.pem"))
    try change(&configuration)
    return try client(Servers.address(variable), CurlTransport(configuration))
  }

  /// The reason for which a configuration is refused, or nil if it is accepted.
  static func refusal(
    _ carrier: TrustCarrier, _ change: (inout any TrustConfiguration) throws -> Void
  ) throws -> String? {
    do {
      _ = try transport(carrier, change)
      return nil
    } catch let error as any InvalidSettings {
      return error.description
    }
  }

  /// The port of the server whose address is in an environment variable.
  static func port(_ variable: String) throws -> Int {
    try #require(URL(string: Servers.address(variable))?.port)
  }
}
