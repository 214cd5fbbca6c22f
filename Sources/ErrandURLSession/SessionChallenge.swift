import Foundation

/// A challenge from URLSession while a connection is set up, such as the check of the server's certificate. The
/// challenge is a protocol, so that tests can use their own challenges on every platform.
protocol SessionChallenge {
  /// Says what the client must decide to answer the challenge.
  var kind: SessionChallengeKind { get }
  /// The name of the host that sends the challenge, as the platform writes it.
  var host: String { get }
  /// The server's own certificate in DER; nil if the challenge has no certificate.
  var certificate: Data? { get }
  /// Computes the SHA-256 digest of the given bytes.
  func sha256(of data: Data) -> Data
  /// Lets the platform check the certificate's authority, dates and host. If `anchors` is not nil, only these
  /// certificates, in DER, are trusted as authorities.
  func judge(anchors: [Data]?) -> SessionVerdict
}

/// The result of the platform's check of a server's certificate.
enum SessionVerdict: Sendable, Equatable {
  case trusted
  /// The platform does not trust the certificate. Contains the error number of the Security framework (OSStatus) and
  /// its description.
  case refused(code: Int, words: String)
}

/// The kinds of challenges from URLSession.
enum SessionChallengeKind: Sendable {
  /// The client must decide whether it trusts the server.
  case serverTrust
  /// The client must choose a certificate to send.
  case clientCertificate
  /// Any other challenge, such as a request for a password.
  case other
}
