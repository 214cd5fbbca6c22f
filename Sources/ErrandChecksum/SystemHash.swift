import ErrandCore
import ErrandSupport
import Foundation

#if canImport(CryptoKit)
  import CryptoKit

  /// Makes the hash functions of the platform with CryptoKit.
  enum SystemHash {
    static func sha256() throws -> any ChecksumHash { CryptoKitHash<SHA256>() }
    static func sha512() throws -> any ChecksumHash { CryptoKitHash<SHA512>() }
    static func md5() throws -> any ChecksumHash { CryptoKitHash<Insecure.MD5>() }
  }

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
#elseif os(Linux)
  import CCrypto

  /// Makes the hash functions of the platform with libcrypto.
  enum SystemHash {
    static func sha256() throws -> any ChecksumHash { try LibcryptoHash(EVP_sha256(), name: "sha-256") }
    static func sha512() throws -> any ChecksumHash { try LibcryptoHash(EVP_sha512(), name: "sha-512") }
    static func md5() throws -> any ChecksumHash { try LibcryptoHash(EVP_md5(), name: "MD5") }
  }

  /// Computes a hash with the EVP functions of libcrypto.
  final class LibcryptoHash: ChecksumHash {
    /// The context in which libcrypto computes the hash; nil after the result has been returned. Bytes that are added
    /// afterwards are ignored.
    private struct State: @unchecked Sendable {  // The context is touched under the lock only, by one thread at a time.
      var context: OpaquePointer?
      var hasFailed = false
    }

    /// Configures OpenSSL so that it does not free its memory when the process exits, because a thread of a transport
    /// may still use OpenSSL at that time. OpenSSL accepts this option only before its first use.
    private static let isPrepared = OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil) == 1

    private let state: Locked<State>

    /// Starts the computation of a hash.
    ///
    /// - Parameters:
    ///   - algorithm: The result of a function such as `EVP_sha256()`; nil if this version of libcrypto does not have
    ///     the algorithm.
    ///   - name: The name of the algorithm, used in the error message.
    init(_ algorithm: OpaquePointer?, name: String) throws(APIError) {
      let context = Self.isPrepared ? EVP_MD_CTX_new() : nil
      guard let context, let algorithm, EVP_DigestInit_ex(context, algorithm, nil) == 1 else {
        EVP_MD_CTX_free(context)
        throw APIError(
          .transfer, .unsupported,
          "libcrypto cannot compute \(name): memory is exhausted, or the algorithm is missing. Update libcrypto.")
      }
      state = Locked(State(context: context))
    }

    deinit {
      state.withLock { EVP_MD_CTX_free($0.context) }
    }

    func update(_ bytes: UnsafeRawBufferPointer) {
      guard let start = bytes.baseAddress, !bytes.isEmpty else { return }
      state.withLock { state in
        guard let context = state.context else { return }
        if EVP_DigestUpdate(context, start, bytes.count) != 1 { state.hasFailed = true }
      }
    }

    func finish() -> Data {
      state.withLock { state in
        guard let context = state.context else { return Data() }
        defer {
          EVP_MD_CTX_free(context)
          state.context = nil
        }
        var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var length: UInt32 = 0
        guard !state.hasFailed, EVP_DigestFinal_ex(context, &digest, &length) == 1 else { return Data() }
        return Data(digest.prefix(Int(length)))
      }
    }
  }
#endif
