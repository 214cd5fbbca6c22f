public import Foundation

/// Seals the bodies on a disk, such as with a key from a keychain. Heads and URLs (their queries masked) stay readable.
public struct BodySealing: Sendable {
  /// Turns a body into what is written. One that throws keeps the entry off the disk.
  public let seal: @Sendable (Data) throws -> Data
  /// Turns back what was read. One that throws makes the entry damaged: it is removed.
  public let open: @Sendable (Data) throws -> Data

  /// Makes a pair of closures. Both run on the store's own thread; there is no need to add a checksum.
  public init(
    seal: @escaping @Sendable (Data) throws -> Data, open: @escaping @Sendable (Data) throws -> Data
  ) {
    self.seal = seal
    self.open = open
  }
}
