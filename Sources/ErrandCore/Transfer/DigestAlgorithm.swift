public import Foundation

/// A way to compute a digest: its name, its length and a maker of hashes.
///
/// The target `ErrandChecksum` brings `DigestAlgorithm.sha256` and `.sha512`.
public struct DigestAlgorithm: Sendable {
  /// The name as RFC 9530 section 7.2 registers it, such as `sha-256`; lower case.
  public let name: String
  /// The length of a digest in bytes.
  public let length: Int
  private let make: @Sendable () throws -> any ChecksumHash

  /// Makes an algorithm.
  ///
  /// - Parameters:
  ///   - name: The registered name.
  ///   - length: The length of a digest in bytes.
  ///   - makeHash: Makes a hash that has seen no bytes yet; throws where there is no room for one.
  public init(name: String, length: Int, makeHash: @escaping @Sendable () throws -> any ChecksumHash) {
    self.name = name
    self.length = length
    make = makeHash
  }

  /// Makes a hash that has seen no bytes yet. Throws what the maker throws.
  public func makeHash() throws -> any ChecksumHash { try make() }
}

/// Computes one digest from bytes that come piece by piece.
///
/// Calls never overlap, but they may come from different threads one after the other. Implement it to bring an
/// algorithm of one's own to ``DigestAlgorithm``; the target `ErrandChecksum` has SHA-256 and SHA-512.
public protocol ChecksumHash: AnyObject, Sendable {
  /// Adds bytes behind those that came before. They are valid during the call only; pieces may have any size.
  func update(_ bytes: UnsafeRawBufferPointer)
  /// Ends the computing and gives the digest; called once, last. Empty where the computing failed: that meets no
  /// checksum.
  func finish() -> Data
}
