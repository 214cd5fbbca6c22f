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

  /// Makes the folder, reads the records, and removes what belongs to none of them. Throws where one cannot be read,
  /// since nothing is known then.
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

extension BackgroundFolder where Record == BackgroundUploadRecord {
  /// The file that a body is, as it lies there; nil where the body is to be written into one first. A link is nothing
  /// to send from: it may lead elsewhere by then.
  func source(of body: HTTPBody, home: String) throws -> BackgroundSource? {
    guard let path = body.filePath, let status = try files.status(at: path), status.kind == .file else { return nil }
    // Finds out whether the file is still the one that the request was built with.
    _ = try body.open(BodyFlow {})
    return BackgroundSource(path, status, home: home)
  }

  /// Where a body lies that was written here.
  func bodyFile(of id: String) -> URL {
    URL(filePath: place(id, BackgroundKind.bodySuffix), directoryHint: .notDirectory)
  }

  /// Writes a body into a file of the user alone and brings it to the disk. Off the lane, since a source may let it
  /// wait; a cancel of the task ends it.
  @concurrent func write(_ body: HTTPBody, for id: String) async throws {
    let path = place(id, BackgroundKind.bodySuffix)
    let file = try files.open(path, .new)
    do {
      defer { try? files.close(file) }
      try await BackgroundBodyCopy(body, into: file, files).run()
    } catch {
      try? files.remove(path)
      throw error
    }
  }

  /// The body of an answer.
  func answer(to id: String, limit: Int) throws -> Data {
    let file = try files.open(answerFile(of: id), .reading)
    defer { try? files.close(file) }
    let length = try files.status(of: file).length
    if length > Int64(limit) {
      throw TransportFailure(.tooLarge, "The answer has \(length) bytes, and no more than \(limit) are taken.")
    }
    return try read(file, length)
  }
}

extension BackgroundFolder where Record == BackgroundDownloadRecord {
  /// Holds the file of a download against all that is known of it. Returns its length and what it was checked by.
  func check(_ id: String, _ check: BackgroundCheck) throws -> (bytes: Int64, checkedBy: [String]) {
    let path = answerFile(of: id)
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
    let path = answerFile(of: id)
    let file = try files.open(path, .existing)
    defer { try? files.close(file) }
    try files.setPermissions(beforeNaming: file, to: permissions)
    try files.synchronize(file)
    if replacing { try files.rename(path, to: target) } else { try files.renameExclusively(path, to: target) }
    // The file is there, whole: a failure here is none of the download.
    try? files.setPermissions(afterNaming: file, to: permissions)
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
}
