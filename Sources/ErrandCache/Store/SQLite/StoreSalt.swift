import Foundation

/// The salt in a store's folder: 32 random bytes that are part of every digest, and their checksum.
struct StoreSalt {
  private static let length = 40

  let digest: Digest
  /// Whether the salt was just created, so that no entry can have been stored with it.
  let isNew: Bool

  /// A number by which an index identifies the salt with which its entries were stored.
  var mark: Int64 { CanonicalForm("salt", salt: digest.bytes).digest.index }

  /// Reads the salt from its locked file. Creates a new salt if the file is empty or damaged. Nil if the file cannot be
  /// read or written.
  static func load(_ file: FileLock) -> StoreSalt? {
    let bytes = SystemFile.read(file.descriptor, count: length)
    if let digest = bytes.flatMap(decode) { return StoreSalt(digest: digest, isNew: false) }
    // A file that cannot be read now may be intact. Do not replace its salt, because with a new salt no stored entry
    // could be found any more.
    guard bytes != nil || SystemFile.length(file.descriptor) < length else { return nil }
    let salt = StoreSalt(digest: .random(), isNew: true)
    return salt.write(file) ? salt : nil
  }

  /// Writes the salt to its file. Returns false if the disk rejects the write.
  func write(_ file: FileLock) -> Bool {
    var writer = ByteWriter()
    writer.digest(digest)
    writer.fixed(writer.bytes.withUnsafeBytes { Checksum64.of($0) })
    return writer.bytes.withUnsafeBytes { SystemFile.write(file.descriptor, $0) }
  }

  private static func decode(_ bytes: Data) -> Digest? {
    bytes.withUnsafeBytes { bytes in
      var reader = ByteReader(bytes)
      guard let salt = try? reader.digest(), let sum = try? reader.fixed() else { return nil }
      return Checksum64.of(UnsafeRawBufferPointer(rebasing: bytes.prefix(32))) == sum ? salt : nil
    }
  }
}
