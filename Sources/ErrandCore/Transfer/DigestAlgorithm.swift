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
