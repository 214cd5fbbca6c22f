import Foundation

/// The salt in a store's folder: 32 random bytes and their checksum.
struct StoreSalt {
  private static let length = 40

  let digest: Digest
  /// Whether it was made just now, so that nothing can have been stored under it.
  let isNew: Bool

  /// What an index has of the salt that its entries were stored under.
  var mark: Int64 { CanonicalForm("salt", salt: digest.bytes).digest.index }

  /// Reads the salt from its locked file; where there is none, or a damaged one, makes it.
  static func load(_ file: FileLock) -> StoreSalt? {
    let bytes = SystemFile.read(file.descriptor, count: length)
    if let digest = bytes.flatMap(decode) { return StoreSalt(digest: digest, isNew: false) }
    // What a disk does not give just now may be whole: another salt in its place would hide all that was stored by it.
    guard bytes != nil || SystemFile.length(file.descriptor) < length else { return nil }
    let salt = StoreSalt(digest: .random(), isNew: true)
    return salt.write(file) ? salt : nil
  }

  /// Makes it the salt of the folder; false where the disk does not take it.
  func write(_ file: FileLock) -> Bool {
    var writer = ByteWriter()
    writer.digest(digest)
    writer.fixed(writer.bytes.withUnsafeBytes { DamageSum.of($0) })
    return writer.bytes.withUnsafeBytes { SystemFile.write(file.descriptor, $0) }
  }

  private static func decode(_ bytes: Data) -> Digest? {
    bytes.withUnsafeBytes { bytes in
      var reader = ByteReader(bytes)
      guard let salt = try? reader.digest(), let sum = try? reader.fixed() else { return nil }
      return DamageSum.of(UnsafeRawBufferPointer(rebasing: bytes.prefix(32))) == sum ? salt : nil
    }
  }
}
