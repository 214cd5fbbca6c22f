public import Foundation

/// The settings of a ``SQLiteStore`` and the limits derived from them.
struct StoreSettings: Sendable {
  /// The smallest possible limit, in bytes. A smaller limit is raised to this value, because the index alone takes a
  /// part of the limit.
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

  /// The maximum length of the write-ahead log of the index, in bytes.
  var logLimit: Int { min(max(limit / 8, 128 << 10), 4 << 20) }
  /// The maximum number of pages that one transaction may write.
  var framesPerTransaction: Int { logLimit / Self.pageSize / 2 }
  /// The maximum number of rows that one transaction of a long removal deletes.
  var rowsPerRemoval: Int { min(max(framesPerTransaction / 2, 8), 256) }
  /// The maximum size of the index and the bodies, without the write-ahead log and the small files, in bytes.
  var contentLimit: Int { limit - logLimit - (64 << 10) }
  /// The maximum size of a body in the index, in bytes. Larger bodies are stored in files.
  var inlineLimit: Int { min(64 << 10, limit / 64) }
  /// The maximum size of entries that wait to be written, in bytes.
  var backlogLimit: Int { min(max(limit / 4, 1 << 20), 16 << 20) }
}

/// Encrypts the bodies on a disk, for example with a key from a keychain. Heads and URLs (with masked queries) are not
/// encrypted.
public struct BodySealing: Sendable {
  /// Encrypts a body. If the closure throws, the entry is not written to the disk.
  public let seal: @Sendable (Data) throws -> Data
  /// Decrypts a stored body. If the closure throws, the entry counts as damaged and is removed.
  public let open: @Sendable (Data) throws -> Data

  /// Makes a value from a closure that encrypts and a closure that decrypts. Both are called on the store's thread.
  /// They need not add a checksum.
  public init(
    seal: @escaping @Sendable (Data) throws -> Data, open: @escaping @Sendable (Data) throws -> Data
  ) {
    self.seal = seal
    self.open = open
  }
}
