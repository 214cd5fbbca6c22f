public import Foundation

/// A digest algorithm: its name, its length and a factory of hashes.
///
/// The target `ErrandChecksum` adds `DigestAlgorithm.sha256` and `.sha512`.
public struct DigestAlgorithm: Sendable {
  /// The name registered by RFC 9530 section 7.2, such as `sha-256`; lower case.
  public let name: String
  /// The length of a digest in bytes.
  public let length: Int
  private let make: @Sendable () throws -> any ChecksumHash

  /// Makes an algorithm.
  ///
  /// - Parameters:
  ///   - name: The registered name.
  ///   - length: The length of a digest in bytes.
  ///   - makeHash: Makes a hash that has processed no bytes yet; throws if its memory cannot be allocated.
  public init(name: String, length: Int, makeHash: @escaping @Sendable () throws -> any ChecksumHash) {
    self.name = name
    self.length = length
    make = makeHash
  }

  /// Makes a hash that has processed no bytes yet. Throws the errors of the factory.
  public func makeHash() throws -> any ChecksumHash { try make() }
}

/// Computes one digest from bytes that arrive in pieces.
///
/// Calls never overlap, but they may come from different threads. Implement this protocol to add an algorithm to
/// ``DigestAlgorithm``; the target `ErrandChecksum` has SHA-256 and SHA-512.
public protocol ChecksumHash: AnyObject, Sendable {
  /// Appends bytes. They are valid only during the call; pieces may have any size.
  func update(_ bytes: UnsafeRawBufferPointer)
  /// Finishes the computation and returns the digest; the last call, made once. Returns no bytes if the computation
  /// failed; an empty digest matches no checksum.
  func finish() -> Data
}
