import Foundation

/// The files of the large bodies of a store, one file for each body. A body is written to a temporary file, which then
/// gets a random name. Afterwards the file does not change.
struct BodyFiles {
  let folder: String

  /// Writes a body to a new file and returns its name; nil if the disk rejects the write.
  func write(_ body: Data) -> String? {
    let name = Self.randomName()
    let temporary = path(name) + ".part"
    let descriptor = SystemFile.openPrivate(temporary, O_EXCL)
    guard descriptor >= 0 else { return nil }
    let isWritten = body.withUnsafeBytes { SystemFile.write(descriptor, $0) }
    guard close(descriptor) == 0, isWritten, rename(temporary, path(name)) == 0 else {
      unlink(temporary)
      return nil
    }
    return name
  }

  func read(_ name: String, length: Int) -> Data? {
    guard Self.isName(name) else { return nil }
    return SystemFile.read(path(name), atMost: length)
  }

  func remove(_ names: [String]) {
    for name in names where Self.isName(name) { unlink(path(name)) }
  }

  /// Removes every body file whose name is not in `wanted`. Returns the total size of the remaining files in bytes.
  func sweep(keeping wanted: Set<String>) -> Int {
    var kept = 0
    for name in SystemFile.names(folder) {
      if Self.isName(name), wanted.contains(name) {
        kept += SystemFile.length(path(name))
      } else {
        unlink(path(name))
      }
    }
    return kept
  }

  private func path(_ name: String) -> String { folder + "/" + name }

  /// A random name of 32 hexadecimal digits in lower case.
  static func randomName() -> String {
    let random = Digest.random().words
    return Digest.hexadecimal(random.0) + Digest.hexadecimal(random.1)
  }

  /// Whether a name has the form of the names that ``randomName()`` makes. The check ensures that a damaged index cannot
  /// refer to a file outside the folder.
  static func isName(_ name: String) -> Bool {
    name.utf8.count == 32 && name.utf8.allSatisfy { $0 &- 0x30 < 10 || $0 &- 0x61 < 6 }
  }
}
