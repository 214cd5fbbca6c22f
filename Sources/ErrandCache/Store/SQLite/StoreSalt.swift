import Foundation

/// The salt in a store's folder: 32 random bytes and their checksum.
enum StoreSalt {
  private static let length = 40

  /// Reads the salt from its locked file; where there is none, or a damaged one, makes it.
  static func load(_ file: FileLock) -> Digest? {
    let bytes = SystemFile.read(file.descriptor, count: length)
    if let salt = bytes.flatMap(decode) { return salt }
    // What a disk does not give just now may be whole: another salt in its place would hide all that was stored by it.
    guard bytes != nil || SystemFile.length(file.descriptor) < length else { return nil }
    let salt = Digest.random()
    var writer = ByteWriter()
    writer.digest(salt)
    writer.fixed(writer.bytes.withUnsafeBytes { DamageSum.of($0) })
    return writer.bytes.withUnsafeBytes { SystemFile.write(file.descriptor, $0) } ? salt : nil
  }

  private static func decode(_ bytes: Data) -> Digest? {
    bytes.withUnsafeBytes { bytes in
      var reader = ByteReader(bytes)
      guard let salt = try? reader.digest(), let sum = try? reader.fixed() else { return nil }
      return DamageSum.of(UnsafeRawBufferPointer(rebasing: bytes.prefix(32))) == sum ? salt : nil
    }
  }
}
