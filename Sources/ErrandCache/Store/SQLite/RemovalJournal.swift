import ErrandSupport
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
/// - A process does not remove the files of processes that are still running: such a process may still write an entry
///   that it put before the removal. A running process keeps its file locked and removes the file itself. Applying a
///   removal twice does no harm.
/// - A file that is truncated, damaged or of another format counts as the removal of all entries. But while its process
///   holds the lock, the file is skipped: the process is still writing the file, or applies the removals itself.
/// - If a file cannot be opened or read, for example because the process has too many open files, the index is not
///   opened either.
struct RemovalJournal: Sendable {
  private static let magic = Array("ERO1".utf8)
  private static let mostBytes = 16 << 20
  /// The maximum number of removals. If there are more, all entries are removed instead.
  static let mostRemovals = 1 << 18

  let folder: String
  private let prefix = "errand-cache.owed-"

  /// A journal file that this process has written.
  struct JournalFile {
    let name: String
    /// The shared lock of the journal file. It is held as long as the file is in use, so that no other process removes
    /// the file.
    let lock: FileLock
  }

  struct JournalContents {
    var names: [String] = []
    var removals: [CacheSelection] = []

    /// Adds the content of a journal file. Returns false if the file cannot be read.
    mutating func add(_ name: String, _ content: SystemFile.Content) -> Bool {
      switch content {
      case .unreadable: return false
      // The file is missing because another process has applied its removals and then removed the file.
      case .missing: return true
      case .bytes(let bytes): removals += RemovalJournal.removals(bytes) ?? [.all]
      case .tooLong: removals.append(.all)
      }
      names.append(name)
      return true
    }
  }

  /// Writes removals to a new journal file and synchronises the file with the disk. Nil if the disk rejects the write.
  func write(_ removals: [CacheSelection]) -> JournalFile? {
    guard PrivateFolder.fault(folder) == nil else { return nil }
    let bytes = Self.bytes(of: removals)
    let name = prefix + BodyFiles.randomName()
    let descriptor = SystemFile.openPrivate(path(name), O_EXCL)
    guard descriptor >= 0 else { return nil }
    let lock = FileLock(descriptor)
    // Another process may have removed the new file before it was locked, because an unlocked file looks like a file of
    // a process that has ended.
    let isOurs = lock.share() && SystemFile.identity(path(name)) == SystemFile.identity(descriptor)
    let isWritten = isOurs && bytes.withUnsafeBytes { SystemFile.write(descriptor, $0) } && fsync(descriptor) == 0
    guard isWritten, SystemFile.synchronize(folder: folder) else {
      unlink(path(name))
      return nil
    }
    return JournalFile(name: name, lock: lock)
  }

  /// Reads all journal files. Nil if the folder or a file cannot be read.
  /// - Parameter own: The name of the file of this process, which is skipped.
  func read(but own: String?) -> JournalContents? {
    guard let names = SystemFile.namesIfReadable(folder) else { return nil }
    var contents = JournalContents()
    for name in names where name != own && isName(name) {
      // Ignore everything that is not a regular file, because stores write only regular files to the journal.
      if [.folder, .other].contains(SystemFile.kind(path(name))) { continue }
      var content = SystemFile.content(path(name), atMost: Self.mostBytes)
      if content.isDamaged {
        guard let lock = FileLock.aloneNow(existing: path(name)) else { continue }
        // Read again, because the file may have been completed before its process ended.
        content = withExtendedLifetime(lock) { SystemFile.content(path(name), atMost: Self.mostBytes) }
      }
      guard contents.add(name, content) else { return nil }
      if contents.removals.count > Self.mostRemovals { contents.removals = [.all] }
    }
    return contents
  }

  func remove(_ file: JournalFile) { unlink(path(file.name)) }

  /// Removes the journal files of processes that have ended.
  func removeAbandoned(_ names: [String]) {
    for name in names {
      guard let lock = FileLock.aloneNow(existing: path(name)) else { continue }
      withExtendedLifetime(lock) { _ = unlink(path(name)) }
    }
  }

  /// Removes all journal files of processes that have ended.
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
    head.fixed(writer.bytes.withUnsafeBytes { Checksum64.of($0) })
    return head.bytes + writer.bytes
  }

  fileprivate static func removals(_ bytes: Data) -> [CacheSelection]? {
    bytes.withUnsafeBytes { bytes in try? decoded(bytes) }
  }

  private static func decoded(_ bytes: UnsafeRawBufferPointer) throws(ByteReader.Malformed) -> [CacheSelection] {
    var reader = ByteReader(bytes)
    guard try reader.take(magic.count).elementsEqual(magic),
      try reader.fixed() == Checksum64.of(UnsafeRawBufferPointer(rebasing: bytes.dropFirst(12)))
    else { throw ByteReader.Malformed() }
    var removals: [CacheSelection] = []
    for _ in 0..<(try reader.count()) { removals.append(try CacheSelection(from: &reader)) }
    guard reader.isAtEnd else { throw ByteReader.Malformed() }
    return removals
  }
}

extension SystemFile.Content {
  /// Whether the content is not that of a complete journal file.
  fileprivate var isDamaged: Bool {
    switch self {
    case .bytes(let bytes): RemovalJournal.removals(bytes) == nil
    case .tooLong: true
    case .missing, .unreadable: false
    }
  }
}
