import ErrandCore
import Foundation

/// The folder of background transfers, which only the user can access. Used only on the engine's serial queue, except
/// for writing bodies.
///
/// | | of a download | of an upload |
/// |---|---|---|
/// | record | `<id>.download` | `<id>.upload` |
/// | file of the response, once it arrived | `<id>.bytes`, until it is moved to its target | `<id>.answer` |
/// | body, if it is not a file of the app | | `<id>.body` |
struct BackgroundFolder<Record: BackgroundRecord>: Sendable {
  private var kind: BackgroundKind { Record.kind }
  private var draftSuffix: String { kind.recordSuffix + ".tmp" }
  /// The maximum size of a record in bytes.
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

  /// Creates the folder, reads the records, and removes files that belong to no record. Throws if a record cannot be
  /// read, because its files would be removed although its transfer may still run.
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

  /// Writes a record: creates a new file, synchronizes it, renames it, and synchronizes the folder.
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

  /// Removes a record first and its files afterwards. If the record cannot be removed, its files are kept, because the
  /// next launch needs them.
  func remove(_ id: String) {
    do {
      try files.remove(place(id, kind.recordSuffix))
    } catch {
      guard error.kind == .notFound else { return }
    }
    for suffix in kind.fileSuffixes { try? files.remove(place(id, suffix)) }
  }

  // MARK: - Files

  /// The path of the response file.
  func answerFile(of id: String) -> String { place(id, kind.fileSuffix) }

  /// Whether the response file is in the folder.
  func hasFile(_ id: String) -> Bool { (try? files.status(at: answerFile(of: id))) != nil }

  /// The length of a file from the system; nil if it does not exist.
  func length(of file: URL) throws -> Int64? { try files.status(at: file.path(percentEncoded: false))?.length }

  /// Moves a file from the system into the folder, in one step if both are on one file system. The response to an
  /// upload is synchronized to disk at once. The file of a download is synchronized later, before it is moved to its
  /// target.
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

  /// Synchronizes the response file and its name to disk. A failure to synchronize the name is ignored: a crash then
  /// loses the response, but does not damage it.
  private func bringToDisk(_ answer: String) throws {
    let file = try files.open(answer, .existing)
    do {
      defer { try? files.close(file) }
      try files.synchronize(file)
    }
    try? files.synchronizeFolder(path)
  }

  /// Removes the response file.
  func removeFile(of id: String) { try? files.remove(answerFile(of: id)) }

  func place(_ id: String, _ suffix: String) -> String { path + "/" + id + suffix }
}

extension BackgroundFolder where Record == BackgroundUploadRecord {
  /// The app's own file, if the body is exactly one file. Nil if the body must be written into a file first. A symbolic
  /// link is not accepted, because it may point to another file when the system reads it.
  func source(of body: HTTPBody, home: String) throws -> BackgroundSource? {
    guard let path = body.filePath, let status = try files.status(at: path), status.kind == .file else { return nil }
    // Throws if the file has changed since the request was built.
    _ = try body.open(BodyFlow {})
    return BackgroundSource(path, status, home: home)
  }

  /// The URL of the body file that the library wrote.
  func bodyFile(of id: String) -> URL {
    URL(filePath: place(id, BackgroundKind.bodySuffix), directoryHint: .notDirectory)
  }

  /// Writes a body into a file that only the user can read, and synchronizes it. Does not run on the serial queue,
  /// because the source of the body may pause. Cancelling the task stops the writing.
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

  /// Reads the body of a response.
  func answer(to id: String, limit: Int) throws -> Data {
    let file = try files.open(answerFile(of: id), .reading)
    defer { try? files.close(file) }
    let length = try files.status(of: file).length
    if length > Int64(limit) {
      throw TransportFailure(.tooLarge, "The response body has \(length) bytes, but at most \(limit) are allowed.")
    }
    return try read(file, length)
  }
}

extension BackgroundFolder where Record == BackgroundDownloadRecord {
  /// Validates the file of a download against its record. Returns its length and the names of the algorithms that
  /// checked it.
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
      if count == 0 { throw FileFailure(.read, path, .length, detail: "it is shorter than its reported length") }
      body(UnsafeRawBufferPointer(rebasing: memory[..<count]))
      place += Int64(count)
    }
  }

  /// Synchronizes the file of a download and moves it to its target.
  func placeFile(of id: String, at target: String, replacing: Bool, permissions: UInt16) throws {
    let path = answerFile(of: id)
    let file = try files.open(path, .existing)
    defer { try? files.close(file) }
    try files.setPermissions(beforeNaming: file, to: permissions)
    try files.synchronize(file)
    if replacing { try files.rename(path, to: target) } else { try files.renameExclusively(path, to: target) }
    // The complete file is at its target now, so later failures are ignored.
    try? files.setPermissions(afterNaming: file, to: permissions)
    try? files.synchronizeFolder(PartNames.folder(of: target))
  }

  /// Whether a file can be moved to a target in one step. Throws if the folder of the target does not exist.
  func canPlace(at target: String) throws -> Bool {
    let folder = PartNames.folder(of: target)
    let names = [path, folder].map { $0.hasSuffix("/") ? $0 : $0 + "/" }
    let devices = try names.map { name in try files.status(at: name + ".")?.identity.device }
    guard let there = devices.last ?? nil else {
      throw FileFailure(.status, folder, .notFound, detail: "the folder does not exist")
    }
    return devices.first == there
  }
}
