import Foundation

/// Records pending removals in the folder of a store, so that they are applied even if the process ends.
///
/// The name of a journal file is `errand-cache.owed-` and 32 hexadecimal digits. A file is written once and never
/// changed:
///
/// | bytes | content |
/// |---|---|
/// | 4 | `ERO1` |
/// | 8 | checksum of the following bytes, least significant byte first |
/// | | number of removals |
/// | | for each removal its kind as a byte, then digests, a host, a tag or a time |
///
/// Accounts and URLs are recorded only as digests. Rules:
/// - A process that opens the index applies all recorded removals, and then removes the files.
/// - It does not remove files of processes that are still running: such a process may still write an entry that it put
///   before the removal. A running process keeps its file locked and removes the file itself. Applying a removal twice
///   does no harm.
/// - A file that is truncated, damaged or of another format counts as the removal of all entries.
/// - If a file cannot be opened or read, for example because the process has too many open files, the index is not
///   opened either.
struct RemovalJournal: Sendable {
  private static let magic = Array("ERO1".utf8)
  private static let mostBytes = 256 << 10
  private static let mostRemovals = 1_024

  let folder: String
  private let prefix = "errand-cache.owed-"

  /// A journal file that this process has written.
  struct Note {
    let name: String
    /// The shared lock of the file. It is held as long as the file is in use, so that no other process removes the
    /// file.
    let lock: FileLock
  }

  /// The content of all journal files.
  struct Notes {
    var names: [String] = []
    var removals: [CacheSelection] = []

    /// Adds the content of a file. Returns false if the file cannot be read.
    mutating func add(_ name: String, _ content: SystemFile.Content) -> Bool {
      switch content {
      case .unreadable: return false
      // Another process has applied the removals and removed the file in the meantime.
      case .missing: return true
      case .bytes(let bytes): removals += RemovalJournal.removals(bytes) ?? [.all]
      case .tooLong: removals.append(.all)
      }
      names.append(name)
      return true
    }
  }

  /// Writes removals to a new file and synchronises the file with the disk. Nil if the disk rejects the write.
  func write(_ removals: [CacheSelection]) -> Note? {
    guard SystemFile.folderFault(folder) == nil else { return nil }
    let bytes = Self.bytes(of: removals)
    let random = Digest.random().words
    let name = prefix + Digest.hexadecimal(random.0) + Digest.hexadecimal(random.1)
    let descriptor = SystemFile.openPrivate(path(name), O_EXCL)
    guard descriptor >= 0 else { return nil }
    let lock = FileLock(descriptor)
    // Before this process has locked the file, another process may have removed it as unused.
    let isOurs = lock.share() && SystemFile.identity(path(name)) == SystemFile.identity(descriptor)
    let isWritten = isOurs && bytes.withUnsafeBytes { SystemFile.write(descriptor, $0) } && fsync(descriptor) == 0
    guard isWritten, SystemFile.synchronize(folder: folder) else {
      unlink(path(name))
      return nil
    }
    return Note(name: name, lock: lock)
  }

  /// Reads all journal files. Nil if the folder or a file cannot be read.
  /// - Parameter own: The name of a file to skip.
  func read(but own: String?) -> Notes? {
    guard let names = SystemFile.namesIfReadable(folder) else { return nil }
    var notes = Notes()
    for name in names where name != own && isName(name) {
      // Ignore everything that is not a regular file: stores write only regular files to the journal.
      if [.folder, .other].contains(SystemFile.kind(path(name))) { continue }
      guard notes.add(name, SystemFile.content(path(name), atMost: Self.mostBytes)) else { return nil }
    }
    if notes.removals.count > Self.mostRemovals { notes.removals = [.all] }
    return notes
  }

  /// Removes a journal file of this process.
  func remove(_ note: Note) { unlink(path(note.name)) }

  /// Removes the files of processes that are no longer running.
  func removeAbandoned(_ names: [String]) {
    for name in names {
      guard let lock = FileLock.aloneNow(existing: path(name)) else { continue }
      withExtendedLifetime(lock) { _ = unlink(path(name)) }
    }
  }

  /// Removes all files of processes that are no longer running.
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
