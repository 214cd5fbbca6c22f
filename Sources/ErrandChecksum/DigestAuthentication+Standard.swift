public import ErrandCore

extension DigestAuthentication {
  /// Makes the interceptor with SHA-256 and, for older servers, MD5 (RFC 7616 section 3.3).
  ///
  /// - Parameters:
  ///   - user: The name of the user.
  ///   - password: The password of the user.
  ///   - allowsMD5: Whether a challenge that offers only MD5 is answered. MD5 is weak, but many devices know no other
  ///     algorithm.
  public init(user: String, password: String, allowsMD5: Bool = true) {
    self.init(user: user, password: password, algorithms: allowsMD5 ? [.sha256, .md5] : [.sha256])
  }
}

extension DigestAlgorithm {
  /// The digest algorithm MD5 (RFC 1321), for Digest authentication only.
  package static let md5 = DigestAlgorithm(name: "md5", length: 16) { try SystemHash.md5() }
}
