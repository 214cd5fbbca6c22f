import ErrandCore
import Foundation

/// The folder of transfers in the background, of the user alone. Used on the lane only, but for the writing of bodies.
///
/// | | of a download | of an upload |
/// |---|---|---|
/// | its record | `<id>.download` | `<id>.upload` |
/// | the file of its answer, from when it came | `<id>.bytes`, until it has its name | `<id>.answer` |
/// | the body, where it is no file of the app's | | `<id>.body` |
struct BackgroundFolder<Record: BackgroundRecord>: Sendable {
  private var kind: BackgroundKind { Record.kind }
  private var draftSuffix: String { kind.recordSuffix + ".tmp" }
  /// The most bytes of a record.
  private var limit: Int64 { 1 << 20 }

  let path: String
  let files: any TransferFiles

  init(path: String, files: any TransferFiles) {
    self.path = path
    self.files = files
  }

  init(_ folder: URL, _ files: any TransferFiles) {
    let path = folder.path(percentEncoded: false)
    self.init(path: path.hasSuffix("/") ? String(path.dropLast()) : path, files: files)
  }

  // MARK: - Records

  /// Makes the folder, reads the records, and removes what belongs to none of them. Throws where one cannot be read, since
  /// nothing is known then.
  func load() throws -> [Record] {
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    let names = try files.names(in: path).sorted()
    let records = try names.filter { $0.hasSuffix(kind.recordSuffix) }.compactMap { try record($0) }
    let ids = Set(records.map(\.id))
    for name in names {
      let suffix = ([kind.recordSuffix, draftSuffix] + kind.fileSuffixes).first { name.hasSuffix($0) }
      guard let suffix else { continue }
      if suffix == draftSuffix || !ids.contains(String(name.dropLast(suffix.count))) {
        try? files.remove(path + "/" + name)
      }
    }
    return records
  }

  private func record(_ name: String) throws -> Record? {
    let place = path + "/" + name
    guard try files.status(at: place)?.kind == .file else { return nil }
    let file = try files.open(place, .reading)
    defer { try? files.close(file) }
    let status = try files.status(of: file)
    guard status.isOwn, status.length <= limit,
      let record = Record.read(try read(file, status.length)), name == record.id + kind.recordSuffix
    else { return nil }
    return record
  }

  func read(_ file: Int32, _ length: Int64) throws -> Data {
    var bytes = Data(count: Int(length))
    let count = try bytes.withUnsafeMutableBytes { try files.read(file, into: $0, at: 0) }
    return bytes.prefix(count)
  }

  /// Writes a record: a new file, brought to the disk, then renamed, then the folder.
  func save(_ record: Record) throws {
    let draft = place(record.id, draftSuffix)
    let bytes = try record.encoded()
    if try files.status(at: draft) != nil { try files.remove(draft) }
    let file = try files.open(draft, .new)
    do {
      defer { try? files.close(file) }
      try bytes.withUnsafeBytes { try files.write(file, $0, at: 0) }
      try files.synchronize(file)
      try files.rename(draft, to: place(record.id, kind.recordSuffix))
    } catch {
      try? files.remove(draft)
      throw error
    }
    try files.synchronizeFolder(path)
  }

  /// Removes a record, and then its files: a record that stays needs them once more.
  func remove(_ id: String) {
    do {
      try files.remove(place(id, kind.recordSuffix))
    } catch {
      guard error.kind == .notFound else { return }
    }
    for suffix in kind.fileSuffixes { try? files.remove(place(id, suffix)) }
  }

  // MARK: - Files

  /// The file of an answer.
  func answerFile(of id: String) -> String { place(id, kind.fileSuffix) }

  /// Whether the file of an answer is here.
  func hasFile(_ id: String) -> Bool { (try? files.status(at: answerFile(of: id))) != nil }

  /// The length of a file of the system's; nil where there is none.
  func length(of file: URL) throws -> Int64? { try files.status(at: file.path(percentEncoded: false))?.length }

  /// Takes a file over from the system, in one step where both are in one file system. The answer to an upload is
  /// brought to the disk at once, the file of a download before it gets its last name.
  func takeFile(_ file: URL, for id: String) throws {
    let (from, to) = (file.path(percentEncoded: false), answerFile(of: id))
    do {
      try files.rename(from, to: to)
    } catch {
      guard error.code == EXDEV else { throw error }
      try? files.remove(to)
      try FileManager.default.moveItem(atPath: from, toPath: to)
    }
    if kind == .upload { try bringToDisk(to) }
  }

  /// A name that does not reach the disk is only found out later: its answer is lost then, not wrong.
  private func bringToDisk(_ answer: String) throws {
    let file = try files.open(answer, .existing)
    do {
      defer { try? files.close(file) }
      try files.synchronize(file)
    }
    try? files.synchronizeFolder(path)
  }

  /// Removes the file of an answer.
  func removeFile(of id: String) { try? files.remove(answerFile(of: id)) }

  func place(_ id: String, _ suffix: String) -> String { path + "/" + id + suffix }
}
