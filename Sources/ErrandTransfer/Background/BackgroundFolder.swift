import ErrandCore
import Foundation

/// The folder of background downloads: for each its record `<id>.download`, and its file `<id>.bytes` from when it came
/// until it has its name. Used on the lane only.
struct BackgroundFolder: Sendable {
  private static let recordSuffix = ".download"
  private static let draftSuffix = ".download.tmp"
  private static let fileSuffix = ".bytes"
  /// The most bytes of a record.
  private static let limit: Int64 = 1 << 20

  let path: String
  let files: any TransferFiles

  // MARK: - Records

  /// Makes the folder, reads the records, and removes what belongs to none of them. Throws where one cannot be read, since
  /// nothing is known then.
  func load() throws -> [BackgroundRecord] {
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    let names = try files.names(in: path).sorted()
    let records = try names.filter { $0.hasSuffix(Self.recordSuffix) }.compactMap { try record($0) }
    let ids = Set(records.map(\.id))
    for name in names {
      let suffix = [Self.recordSuffix, Self.draftSuffix, Self.fileSuffix].first { name.hasSuffix($0) }
      guard let suffix else { continue }
      if suffix == Self.draftSuffix || !ids.contains(String(name.dropLast(suffix.count))) {
        try? files.remove(path + "/" + name)
      }
    }
    return records
  }

  private func record(_ name: String) throws -> BackgroundRecord? {
    let place = path + "/" + name
    guard try files.status(at: place)?.kind == .file else { return nil }
    let file = try files.open(place, .reading)
    defer { try? files.close(file) }
    let status = try files.status(of: file)
    guard status.isOwn, status.length <= Self.limit,
      let record = BackgroundRecord.read(try read(file, status.length)), name == record.id + Self.recordSuffix
    else { return nil }
    return record
  }

  private func read(_ file: Int32, _ length: Int64) throws -> Data {
    var bytes = Data(count: Int(length))
    let count = try bytes.withUnsafeMutableBytes { try files.read(file, into: $0, at: 0) }
    return bytes.prefix(count)
  }

  /// Writes a record: a new file, brought to the disk, then renamed, then the folder.
  func save(_ record: BackgroundRecord) throws {
    let draft = place(record.id, Self.draftSuffix)
    let bytes = try record.encoded()
    if try files.status(at: draft) != nil { try files.remove(draft) }
    let file = try files.open(draft, .new)
    do {
      defer { try? files.close(file) }
      try bytes.withUnsafeBytes { try files.write(file, $0, at: 0) }
      try files.synchronize(file)
      try files.rename(draft, to: place(record.id, Self.recordSuffix))
    } catch {
      try? files.remove(draft)
      throw error
    }
    try files.synchronizeFolder(path)
  }

  /// Removes a record and its file.
  func remove(_ id: String) {
    removeFile(of: id)
    try? files.remove(place(id, Self.recordSuffix))
  }

  // MARK: - Files

  /// Whether the file of a download is here.
  func hasFile(_ id: String) -> Bool { (try? files.status(at: place(id, Self.fileSuffix))) != nil }

  /// Takes a file over from the system, in one step where both are in one file system.
  func takeFile(_ file: URL, for id: String) throws {
    let (from, to) = (file.path(percentEncoded: false), place(id, Self.fileSuffix))
    do {
      try files.rename(from, to: to)
    } catch {
      guard error.code == EXDEV else { throw error }
      try? files.remove(to)
      try FileManager.default.moveItem(atPath: from, toPath: to)
    }
  }

  /// Removes the file of a download.
  func removeFile(of id: String) { try? files.remove(place(id, Self.fileSuffix)) }

  /// Holds the file of a download against all that is known of it. Returns its length and what it was checked by.
  func check(_ id: String, _ check: BackgroundCheck) throws -> (bytes: Int64, checkedBy: [String]) {
    let path = place(id, Self.fileSuffix)
    let file = try files.open(path, .reading)
    defer { try? files.close(file) }
    let length = try files.status(of: file).length
    try check.judge(length: length, start: try read(file, min(length, Int64(BackgroundCheck.refusedLimit))))
    let wanted = try check.checksums()
    if wanted.isEmpty { return (length, []) }
    let hashes = try wanted.map { try $0.makeHash() }
    try pieces(of: file, length) { piece in for hash in hashes { hash.update(piece) } }
    for (checksum, hash) in zip(wanted, hashes) { try BackgroundCheck.hold(hash.finish(), against: checksum) }
    return (length, Set(wanted.map(\.algorithm.name)).sorted())
  }

  private func pieces(of file: Int32, _ length: Int64, _ body: (UnsafeRawBufferPointer) -> Void) throws {
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
    defer { memory.deallocate() }
    var place: Int64 = 0
    while place < length {
      let count = try files.read(file, into: memory, at: place)
      if count == 0 { throw FileFailure(.read, path, .length, detail: "it ends before its length") }
      body(UnsafeRawBufferPointer(rebasing: memory[..<count]))
      place += Int64(count)
    }
  }

  /// Brings the file of a download to the disk and gives it its last name.
  func placeFile(of id: String, at target: String, replacing: Bool, permissions: UInt16) throws {
    let path = place(id, Self.fileSuffix)
    let file = try files.open(path, .existing)
    do {
      defer { try? files.close(file) }
      try files.setPermissions(of: file, to: permissions)
      try files.synchronize(file)
    }
    if replacing { try files.rename(path, to: target) } else { try files.renameExclusively(path, to: target) }
    // The file is there, whole: a failure here is none of the download.
    try? files.synchronizeFolder(PartNames.folder(of: target))
  }

  /// Whether a file can be given a name at a place in one step. Throws where its folder is not there.
  func canPlace(at target: String) throws -> Bool {
    let folder = PartNames.folder(of: target)
    let names = [path, folder].map { $0.hasSuffix("/") ? $0 : $0 + "/" }
    let devices = try names.map { name in try files.status(at: name + ".")?.identity.device }
    guard let there = devices.last ?? nil else {
      throw FileFailure(.status, folder, .notFound, detail: "the folder is not there")
    }
    return devices.first == there
  }

  private func place(_ id: String, _ suffix: String) -> String { path + "/" + id + suffix }
}
