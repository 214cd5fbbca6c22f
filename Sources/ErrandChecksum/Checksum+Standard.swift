public import ErrandCore
public import Foundation

extension DigestAlgorithm {
  /// The digest algorithm SHA-256 (FIPS 180-4).
  public static let sha256 = DigestAlgorithm(name: "sha-256", length: 32) { try SystemHash.sha256() }
  /// The digest algorithm SHA-512 (FIPS 180-4).
  public static let sha512 = DigestAlgorithm(name: "sha-512", length: 64) { try SystemHash.sha512() }
  /// The digest algorithm MD5 (RFC 1321), for Digest authentication only.
  package static let md5 = DigestAlgorithm(name: "md5", length: 16) { try SystemHash.md5() }
}

extension [DigestAlgorithm] {
  /// SHA-256 and SHA-512, the secure algorithms of RFC 9530. The faster algorithm is first.
  public static let standard: [DigestAlgorithm] = [.sha256, .sha512]
}

extension Checksum {
  /// Makes a SHA-256 checksum from 64 hexadecimal digits in either case, or from 44 characters of base64.
  ///
  /// - Throws: `APIError` with the code `invalidChecksum` if the text is not such a checksum.
  public static func sha256(_ text: String) throws(APIError) -> Checksum { try Checksum(.sha256, text) }

  /// Makes a SHA-256 checksum from its 32 bytes.
  ///
  /// - Throws: `APIError` with the code `invalidChecksum` if there are not 32 bytes.
  public static func sha256(_ digest: Data) throws(APIError) -> Checksum { try Checksum(.sha256, digest) }

  /// Makes a SHA-512 checksum from 128 hexadecimal digits in either case, or from 88 characters of base64.
  ///
  /// - Throws: `APIError` with the code `invalidChecksum` if the text is not such a checksum.
  public static func sha512(_ text: String) throws(APIError) -> Checksum { try Checksum(.sha512, text) }

  /// Makes a SHA-512 checksum from its 64 bytes.
  ///
  /// - Throws: `APIError` with the code `invalidChecksum` if there are not 64 bytes.
  public static func sha512(_ digest: Data) throws(APIError) -> Checksum { try Checksum(.sha512, digest) }
}

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
