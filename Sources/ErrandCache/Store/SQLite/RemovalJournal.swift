import Foundation

/// The removals that stores on a folder owe, written down so that they outlive the process.
///
/// Each file, `errand-cache.owed-` and 32 hexadecimal digits, is written once and never changed:
///
/// | bytes | what |
/// |---|---|
/// | 4 | `ERO1` |
/// | 8 | checksum over the rest, lowest byte first |
/// | | number of removals |
/// | | for each its kind as a byte, and digests, a host, a tag or a time |
///
/// Accounts and URLs are there as their digests alone. Whoever opens the index carries all of them out and then removes
/// the files, but for those of others who are there: what they put before the removal may be written after it. They
/// keep their file locked, and remove it themselves. Twice does no harm. A file that is cut, damaged or of another kind
/// stands for the removal of everything; while one cannot be opened or read, as where the process has too many files
/// open, the index is not opened either.
struct RemovalJournal: Sendable {
  private static let magic = Array("ERO1".utf8)
  private static let mostBytes = 256 << 10
  private static let mostRemovals = 1_024

  let folder: String
  private let prefix = "errand-cache.owed-"

  /// A file that its writer keeps.
  struct Note {
    let name: String
    /// Shared for as long as the note is kept, so that nobody else removes it.
    let lock: FileLock
  }

  /// What was found.
  struct Notes {
    var names: [String] = []
    var removals: [CacheSelection] = []

    /// Adds what a file says. False where nobody can tell.
    mutating func add(_ name: String, _ content: SystemFile.Content) -> Bool {
      switch content {
      case .unreadable: return false
      // Somebody else carried it out meanwhile.
      case .missing: return true
      case .bytes(let bytes): removals += RemovalJournal.removals(bytes) ?? [.all]
      case .tooLong: removals.append(.all)
      }
      names.append(name)
      return true
    }
  }

  /// Writes removals down, to the disk itself. Nil where the disk does not take it.
  func write(_ removals: [CacheSelection]) -> Note? {
    guard SystemFile.folderFault(folder) == nil else { return nil }
    let bytes = Self.bytes(of: removals)
    let random = Digest.random().words
    let name = prefix + Digest.hexadecimal(random.0) + Digest.hexadecimal(random.1)
    let descriptor = SystemFile.openPrivate(path(name), O_EXCL)
    guard descriptor >= 0 else { return nil }
    let lock = FileLock(descriptor)
    // Before it is locked somebody may take it for an abandoned one.
    let isOurs = lock.share() && SystemFile.identity(path(name)) == SystemFile.identity(descriptor)
    let isWritten = isOurs && bytes.withUnsafeBytes { SystemFile.write(descriptor, $0) } && fsync(descriptor) == 0
    guard isWritten, SystemFile.synchronize(folder: folder) else {
      unlink(path(name))
      return nil
    }
    return Note(name: name, lock: lock)
  }

  /// Reads what is written down. Nil where nobody can tell.
  /// - Parameter own: A file to leave out.
  func read(but own: String?) -> Notes? {
    guard let names = SystemFile.namesIfReadable(folder) else { return nil }
    var notes = Notes()
    for name in names where name != own && isName(name) {
      // A store wrote no folder and no link.
      if [.folder, .other].contains(SystemFile.kind(path(name))) { continue }
      guard notes.add(name, SystemFile.content(path(name), atMost: Self.mostBytes)) else { return nil }
    }
    if notes.removals.count > Self.mostRemovals { notes.removals = [.all] }
    return notes
  }

  /// Removes one's own note.
  func remove(_ note: Note) { unlink(path(note.name)) }

  /// Removes the files whose writers have gone.
  func removeAbandoned(_ names: [String]) {
    for name in names {
      guard let lock = FileLock.aloneNow(existing: path(name)) else { continue }
      withExtendedLifetime(lock) { _ = unlink(path(name)) }
    }
  }

  /// Removes whatever is written down by those who have gone.
  func empty() { removeAbandoned(SystemFile.names(folder).filter(isName)) }

  private func path(_ name: String) -> String { folder + (folder.hasSuffix("/") ? "" : "/") + name }

  private func isName(_ name: String) -> Bool {
    name.hasPrefix(prefix) && BodyFiles.isName(String(name.dropFirst(prefix.count)))
  }

  private static func bytes(of removals: [CacheSelection]) -> [UInt8] {
    var writer = ByteWriter()
    writer.length(removals.count)
    for removal in removals { removal.write(to: &writer) }
    if writer.bytes.count > mostBytes - 12 { return bytes(of: [.all]) }
    var head = ByteWriter(bytes: magic)
    head.fixed(writer.bytes.withUnsafeBytes { DamageSum.of($0) })
    return head.bytes + writer.bytes
  }

  private static func removals(_ bytes: Data) -> [CacheSelection]? {
    bytes.withUnsafeBytes { bytes in try? decoded(bytes) }
  }

  private static func decoded(_ bytes: UnsafeRawBufferPointer) throws(ByteReader.Malformed) -> [CacheSelection] {
    var reader = ByteReader(bytes)
    guard try reader.take(magic.count).elementsEqual(magic),
      try reader.fixed() == DamageSum.of(UnsafeRawBufferPointer(rebasing: bytes.dropFirst(12)))
    else { throw ByteReader.Malformed() }
    var removals: [CacheSelection] = []
    for _ in 0..<(try reader.count()) { removals.append(try CacheSelection(from: &reader)) }
    guard reader.isAtEnd else { throw ByteReader.Malformed() }
    return removals
  }
}
