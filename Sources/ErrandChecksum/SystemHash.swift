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

#if canImport(CryptoKit)
  import CryptoKit
  import ErrandCore
  import ErrandSupport
  import Foundation

  /// A hash by CryptoKit.
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
