public import Foundation

/// What a ``SQLiteStore`` was told, and the bounds that follow from it.
struct StoreSettings: Sendable {
  /// A smaller limit counts as this one: an index alone takes a part of it.
  static let leastLimit = 1 << 20
  static let pageSize = 4_096

  let folder: StoreFolder
  let limit: Int
  let entryLimit: Int
  let sealing: BodySealing?

  init(folder: URL, limit: Int, entryLimit: Int?, sealing: BodySealing?) {
    self.folder = StoreFolder(folder)
    self.limit = max(limit, Self.leastLimit)
    self.entryLimit = min(max(entryLimit ?? self.limit / 20, 0), self.limit / 2)
    self.sealing = sealing
  }

  /// How long the index's log may be.
  var logLimit: Int { min(max(limit / 8, 128 << 10), 4 << 20) }
  /// The pages that one transaction may write.
  var framesPerTransaction: Int { logLimit / Self.pageSize / 2 }
  /// What index and bodies may take without the log and the small files.
  var contentLimit: Int { limit - logLimit - (64 << 10) }
  /// Longer bodies lie in files.
  var inlineLimit: Int { min(64 << 10, limit / 64) }
  /// How many bytes may wait to be written.
  var backlogLimit: Int { min(max(limit / 4, 1 << 20), 16 << 20) }
}

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
