import ErrandCore

#if canImport(CryptoKit)
  import CryptoKit

  /// The platform's hashes: CryptoKit.
  enum SystemHash {
    static func sha256() throws -> any ChecksumHash { CryptoKitHash<SHA256>() }
    static func sha512() throws -> any ChecksumHash { CryptoKitHash<SHA512>() }
  }
#elseif os(Linux)
  import CCrypto

  /// The platform's hashes: libcrypto.
  enum SystemHash {
    static func sha256() throws -> any ChecksumHash { try LibcryptoHash(EVP_sha256(), name: "sha-256") }
    static func sha512() throws -> any ChecksumHash { try LibcryptoHash(EVP_sha512(), name: "sha-512") }
  }
#endif
