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
