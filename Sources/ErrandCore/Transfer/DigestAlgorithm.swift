public import Foundation

/// A digest algorithm: its name, the length of its digests, and the closure that makes a hash.
///
/// The target `ErrandChecksum` adds `DigestAlgorithm.sha256` and `.sha512`.
public struct DigestAlgorithm: Sendable {
  /// The name of the algorithm in lower case, as registered by RFC 9530 section 7.2, such as `sha-256`.
  public let name: String
  /// The length of a digest in bytes.
  public let length: Int
  private let make: @Sendable () throws -> any ChecksumHash

  /// Makes an algorithm that the library does not contain.
  ///
  /// - Parameters:
  ///   - name: The registered name.
  ///   - length: The length of a digest in bytes.
  ///   - makeHash: Makes a new hash, which has processed no bytes. Throws an error if there is not enough memory.
  public init(name: String, length: Int, makeHash: @escaping @Sendable () throws -> any ChecksumHash) {
    self.name = name
    self.length = length
    make = makeHash
  }

  /// Makes a new hash, which has processed no bytes.
  /// - Throws: The errors of the closure that makes the hash.
  public func makeHash() throws -> any ChecksumHash { try make() }
}

/// Computes one digest from bytes that arrive in pieces.
///
/// Calls of the functions never overlap, but they may come from different threads. Implement this protocol to add an
/// algorithm to ``DigestAlgorithm``. The target `ErrandChecksum` contains implementations for SHA-256 and SHA-512.
public protocol ChecksumHash: AnyObject, Sendable {
  /// Processes the next bytes. The memory is valid only during the call of this function. A piece may have any size.
  func update(_ bytes: UnsafeRawBufferPointer)
  /// Finishes the computation and returns the digest. This function is called once, as the last call. If the
  /// computation failed, return empty data, which matches no checksum.
  func finish() -> Data
}
