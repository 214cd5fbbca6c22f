#if os(Linux)
  import CCrypto
  import ErrandCore
  import ErrandSupport
  import Foundation

  /// A hash by the EVP functions of libcrypto.
  final class LibcryptoHash: ChecksumHash {
    /// A context that was freed is nil: bytes that come after the end go nowhere.
    private struct State: @unchecked Sendable {  // The context is touched under the lock only, by one thread at a time.
      var context: OpaquePointer?
      var hasFailed = false
    }

    /// Has OpenSSL keep what it holds when the process exits: a transport's thread may use it until the end. OpenSSL
    /// heeds that only before its first use.
    private static let isPrepared = OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil) == 1

    private let state: Locked<State>

    /// Begins a hash.
    ///
    /// - Parameters:
    ///   - algorithm: What an `EVP_sha256()` and the like gave; nil where this libcrypto has it not.
    ///   - name: Its name, for the error.
    init(_ algorithm: OpaquePointer?, name: String) throws(APIError) {
      let context = Self.isPrepared ? EVP_MD_CTX_new() : nil
      guard let context, let algorithm, EVP_DigestInit_ex(context, algorithm, nil) == 1 else {
        EVP_MD_CTX_free(context)
        throw APIError(
          .transfer, .unsupported,
          "libcrypto could not begin a \(name) hash: it has no memory for it, or does not know the algorithm.")
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
