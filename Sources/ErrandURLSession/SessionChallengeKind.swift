/// What a challenge is about.
enum SessionChallengeKind: Sendable {
  /// Whether the server is trusted.
  case serverTrust
  /// Who this side is, by a certificate.
  case clientCertificate
  /// Anything else, such as a password.
  case other
}
