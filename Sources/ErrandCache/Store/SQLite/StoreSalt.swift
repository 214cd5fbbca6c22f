import Foundation

/// The salt in a store's folder: 32 random bytes and their checksum.
enum StoreSalt {
  /// Reads the salt from its locked file; where there is none, or a damaged one, makes it.
  static func load(_ file: FileLock) -> Digest? {
    if let bytes = SystemFile.read(file.descriptor, count: 40), let salt = decode(bytes) { return salt }
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
