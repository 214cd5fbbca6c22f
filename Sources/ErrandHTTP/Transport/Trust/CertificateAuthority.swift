public import Foundation

/// The authorities whose server certificates are accepted.
public enum CertificateAuthority: Sendable, Hashable {
  /// The authorities that the system trusts.
  case system
  /// Only the authorities in a file of PEM certificates.
  case file(path: String)
  /// Only the authorities in these PEM certificates.
  case certificates(Data)
  /// For tests: only the authorities in these PEM certificates, and only for loopback addresses. Connections to other
  /// addresses fail with ``TransportFailure/Kind/forbiddenAddress``. So a release that contains this setting by mistake
  /// trusts no server.
  case test(CertificateSource)
}

extension CertificateAuthority {
  /// Whether this is a test authority. If so, connections are allowed only to loopback addresses.
  package var isForTests: Bool {
    if case .test = self { true } else { false }
  }
}

/// A version of TLS.
public enum TLSVersion: Sendable, Hashable {
  /// TLS 1.2 (RFC 5246).
  case tls1_2
  /// TLS 1.3 (RFC 8446).
  case tls1_3
}
