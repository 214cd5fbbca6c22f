public import Foundation

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
