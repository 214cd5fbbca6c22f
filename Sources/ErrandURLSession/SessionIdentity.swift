import Foundation

/// A certificate of this side with its key, in PKCS #12.
struct SessionIdentity: Sendable, Equatable {
  let pkcs12: Data
  let passphrase: String
}
