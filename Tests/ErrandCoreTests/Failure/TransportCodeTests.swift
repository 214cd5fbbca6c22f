import ErrandCore
import Foundation
import Testing

/// The codes of the stage `transport`, which have the names of the kinds of transport failures.
struct TransportCodeTests {
  /// Every code as an app writes it.
  private static let codes: [APIError.Code] = [
    .offline, .nameLookup, .refused, .connectTimeout, .idleTimeout, .tls, .proxy, .closedBeforeResponse, .reset,
    .truncated, .malformedResponse, .tooLarge, .undecodableContent, .http2, .sink, .bodySource, .bodyChanged,
    .unsupported, .other, .certificateExpired, .certificateNotYetValid, .certificateSelfSigned, .unknownAuthority,
    .wrongHost, .pinMismatch, .tlsVersion, .clientCertificateRequired, .clientCertificateRefused, .proxyCredentials,
    .forbiddenAddress,
  ]

  @Test func `each kind has its code`() {
    #expect(TransportFailure.Kind.allCases.map(\.rawValue) == Self.codes.map(\.rawValue))
  }

  @Test func `list of kinds is complete`() throws {
    let file = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../../Sources/ErrandHTTP/Transport/TransportFailure.swift")
    let text = try String(contentsOf: file, encoding: .utf8)
    let declared = text.matches(of: /public static let \w+ = \w+\(rawValue: "(\w+)"\)/).map { String($0.1) }
    #expect(declared.count > 25)
    #expect(declared == TransportFailure.Kind.allCases.map(\.rawValue))
  }
}
