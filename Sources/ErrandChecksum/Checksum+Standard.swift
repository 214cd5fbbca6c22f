public import ErrandCore
public import Foundation

extension DigestAlgorithm {
  /// The digest algorithm SHA-256 (FIPS 180-4).
  public static let sha256 = DigestAlgorithm(name: "sha-256", length: 32) { try SystemHash.sha256() }
  /// The digest algorithm SHA-512 (FIPS 180-4).
  public static let sha512 = DigestAlgorithm(name: "sha-512", length: 64) { try SystemHash.sha512() }
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
