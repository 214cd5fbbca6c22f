import Foundation

/// What URLSession asks while a connection is made: a seam, so that the answers are tested where it never asks.
protocol SessionChallenge {
  /// What is asked for.
  var kind: SessionChallengeKind { get }
  /// Who asks, as the platform names it.
  var host: String { get }
  /// The server's own certificate in DER; nil where there is none.
  var certificate: Data? { get }
  /// The SHA-256 of some bytes.
  func sha256(of data: Data) -> Data
  /// Has the platform check authority, dates and host; with anchors in DER those vouch, and nobody else.
  func judge(anchors: [Data]?) -> SessionVerdict
}

/// What the platform says of a server's certificate.
enum SessionVerdict: Sendable, Equatable {
  case trusted
  /// The number of the Security framework (OSStatus), and its words.
  case refused(code: Int, words: String)
}

/// What a challenge is about.
enum SessionChallengeKind: Sendable {
  /// Whether the server is trusted.
  case serverTrust
  /// Who this side is, by a certificate.
  case clientCertificate
  /// Anything else, such as a password.
  case other
}
