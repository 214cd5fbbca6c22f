import ErrandCore

#if canImport(CryptoKit)
  import CryptoKit

  /// Makes the hash functions of the platform with CryptoKit.
  enum SystemHash {
    static func sha256() throws -> any ChecksumHash { CryptoKitHash<SHA256>() }
    static func sha512() throws -> any ChecksumHash { CryptoKitHash<SHA512>() }
  }
#elseif os(Linux)
  import CCrypto

  /// Makes the hash functions of the platform with libcrypto.
  enum SystemHash {
    static func sha256() throws -> any ChecksumHash { try LibcryptoHash(EVP_sha256(), name: "sha-256") }
    static func sha512() throws -> any ChecksumHash { try LibcryptoHash(EVP_sha512(), name: "sha-512") }
  }
#endif

#if canImport(CryptoKit)
  import CryptoKit
  import ErrandCore
  import ErrandSupport
  import Foundation

  /// Computes a hash with CryptoKit.
  final class CryptoKitHash<Function: HashFunction>: ChecksumHash where Function: Sendable {
    private let function = Locked(Function())

    func update(_ bytes: UnsafeRawBufferPointer) {
      function.withLock { $0.update(bufferPointer: bytes) }
    }

    func finish() -> Data {
      function.withLock { Data($0.finalize()) }
    }
  }
#endif
