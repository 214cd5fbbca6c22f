public import ErrandCore
public import Foundation

extension DigestAlgorithm {
  /// SHA-256 (FIPS 180-4).
  public static let sha256 = DigestAlgorithm(name: "sha-256", length: 32) { try SystemHash.sha256() }
  /// SHA-512 (FIPS 180-4).
  public static let sha512 = DigestAlgorithm(name: "sha-512", length: 64) { try SystemHash.sha512() }
}

extension [DigestAlgorithm] {
  /// SHA-256 and SHA-512: the algorithms of RFC 9530 that are not insecure, the quicker one first.
  public static let standard: [DigestAlgorithm] = [.sha256, .sha512]
}

extension Checksum {
  /// A SHA-256 checksum as 64 hexadecimal digits in either case or 44 characters of base64.
  ///
  /// - Throws: `APIError` with the code `invalidChecksum`, and what is wrong.
  public static func sha256(_ text: String) throws(APIError) -> Checksum { try Checksum(.sha256, text) }

  /// A SHA-256 checksum as its 32 bytes.
  ///
  /// - Throws: `APIError` with the code `invalidChecksum` for another length.
  public static func sha256(_ digest: Data) throws(APIError) -> Checksum { try Checksum(.sha256, digest) }

  /// A SHA-512 checksum as 128 hexadecimal digits in either case or 88 characters of base64.
  ///
  /// - Throws: `APIError` with the code `invalidChecksum`, and what is wrong.
  public static func sha512(_ text: String) throws(APIError) -> Checksum { try Checksum(.sha512, text) }

  /// A SHA-512 checksum as its 64 bytes.
  ///
  /// - Throws: `APIError` with the code `invalidChecksum` for another length.
  public static func sha512(_ digest: Data) throws(APIError) -> Checksum { try Checksum(.sha512, digest) }
}
