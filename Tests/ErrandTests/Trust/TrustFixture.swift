import Errand
import Foundation
import Testing

/// Clients with trust of many kinds, and the certificates that the test script made.
enum TrustFixture {
  /// A file of the folder of certificates.
  static func path(_ name: String) throws -> String { try Servers.address("ERRAND_CERTIFICATES") + "/" + name }

  static func data(_ name: String) throws -> Data { try Data(contentsOf: URL(fileURLWithPath: path(name))) }

  /// The pin of a certificate's public key, as openssl computed it.
  static func pin(_ name: String) throws -> String {
    try String(decoding: data(name + ".pin"), as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
  }

  /// A pin that is nobody's.
  static let strangePin = Data(repeating: 7, count: 32).base64EncodedString()

  /// Another one.
  static let sparePin = Data(repeating: 8, count: 32).base64EncodedString()

  /// A transport that trusts the tests' own authority, unless told otherwise.
  static func transport(
    resolver: (any NameResolver)? = nil, _ change: (inout CurlConfiguration) throws -> Void = { _ in }
  ) throws -> CurlTransport {
    var configuration = CurlConfiguration()
    configuration.certificateAuthority = .file(path: try path("ca.pem"))
    try change(&configuration)
    return try CurlTransport(configuration, resolver: resolver)
  }

  static func client(_ base: String, _ transport: CurlTransport) -> APIClient {
    var configuration = ClientConfiguration(baseURL: base)
    configuration.transport = .own(transport)
    return APIClient(configuration)
  }

  /// A client for the server under a variable.
  static func client(
    _ variable: String, _ change: (inout CurlConfiguration) throws -> Void = { _ in }
  ) throws -> APIClient {
    try client(Servers.address(variable), transport(change))
  }

  /// Why a configuration is refused; nil where it is not.
  static func refusal(_ change: (inout CurlConfiguration) throws -> Void) throws -> String? {
    do {
      _ = try transport(change)
      return nil
    } catch let error as CurlConfiguration.Invalid {
      return error.description
    }
  }

  /// The port of a server under a variable.
  static func port(_ variable: String) throws -> Int {
    try #require(URL(string: Servers.address(variable))?.port)
  }
}
