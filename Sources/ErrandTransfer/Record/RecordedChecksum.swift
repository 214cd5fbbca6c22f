/// The checksum that the caller asked for.
package struct RecordedChecksum: Sendable, Hashable, Codable {
  /// The algorithm, as RFC 9530 names it.
  package let algorithm: String
  /// The expected value in lower-case hexadecimal digits.
  package let hex: String

  package init(algorithm: String, hex: String) {
    self.algorithm = algorithm.lowercased()
    self.hex = hex.lowercased()
  }
}
