/// The public keys that a host may have, beside a certificate that is valid: one in use and at least one in reserve.
///
/// A pin is the SHA-256 of the certificate's public key with its header (SubjectPublicKeyInfo, RFC 5280 section 4.1.2.7),
/// in Base64: 44 characters. Pins add to the check of authority, dates and host and replace nothing of it.
///
/// ```swift
/// settings.pins = [
///   PublicKeyPins(host: "api.example.com", sha256: [keyInUse, keyInReserve])
/// ]
/// ```
public struct PublicKeyPins: Sendable, Hashable {
  /// A host such as `api.example.com`, or `.example.com` for every host below it; the closest one counts.
  public var host: String
  /// The pins, two at the least, so that a lost key locks nobody out.
  public var sha256: [String]

  /// Makes the pins of a host. The transport refuses malformed ones.
  public init(host: String, sha256: [String]) {
    self.host = host
    self.sha256 = sha256
  }
}
