import ErrandCore
import ErrandSupport
import ErrandTransfer
import Foundation

/// The folder of background transfers, which only the user can access. The engine uses the folder only on its serial
/// queue, with one exception: request bodies are written on another queue.
///
/// | | of a download | of an upload |
/// |---|---|---|
/// | record | `<id>.download` | `<id>.upload` |
/// | file of the response, once it arrived | `<id>.bytes`, until it is moved to its target | `<id>.answer` |
/// | body, if it is not a file of the app | | `<id>.body` |
struct BackgroundFolder<Record: BackgroundState>: Sendable {
  private var kind: BackgroundKind { Record.kind }
  private var draftSuffix: String { kind.recordSuffix + ".tmp" }
  /// The maximum size of a record file in bytes.
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

  /// Creates the folder, reads the saved records of all transfers, and removes files that belong to no record. Throws
  /// if a record file cannot be opened or read. In this case no file is removed, because the transfer of the record may
  /// still run. Also throws if the folder cannot be made private, or if other users could replace it.
  func load() throws -> [Record] {
    if let fault = PrivateFolder.parentFault(path) { throw rejection(fault) }
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    if let fault = PrivateFolder.makePrivate(path) { throw rejection(fault) }
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
    return records.map { record in
      guard case .arrived = record.phase, !names.contains(record.id + kind.fileSuffix) else { return record }
      // The process ended before it moved the response file. The system may report the response again, even before the
      // engine has compared the records with the system's list, so the transfer must accept a file.
      var waiting = record
      waiting.phase = .running
      return waiting
    }
  }

  private func rejection(_ fault: FolderFault) -> APIError { APIError(.transfer, .file, fault.sentence(path)) }

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

  /// Writes the record of a transfer: creates a new file, synchronizes it, renames it, and synchronizes the folder.
  func save(_ record: Record) throws {
    let path = place(record.id, kind.recordSuffix)
    try files.replace(path, with: try record.encoded(), by: place(record.id, draftSuffix))
    try files.synchronizeFolder(self.path)
  }

  /// Removes the record of a transfer first, and the files of the transfer afterwards. If the record cannot be removed,
  /// the files are kept, because the next launch of the app needs them.
  func remove(_ id: String) {
    do {
      try files.remove(place(id, kind.recordSuffix))
    } catch {
      guard error.kind == .notFound else { return }
    }
    for suffix in kind.fileSuffixes { try? files.remove(place(id, suffix)) }
  }

  // MARK: - Files

  /// The path of the file that contains the response body of a transfer.
  func responseFile(of id: String) -> String { place(id, kind.fileSuffix) }

  func hasFile(_ id: String) -> Bool { (try? files.status(at: responseFile(of: id))) != nil }

  /// The length in bytes of a response file that the system delivered. Throws if the file does not exist.
  func length(of file: URL) throws -> Int64 {
    let path = file.path(percentEncoded: false)
    guard let status = try files.status(at: path) else {
      throw FileFailure(.status, path, .notFound, detail: "the system delivered no file")
    }
    return status.length
  }

  /// Moves a response file that the system delivered into the folder. The move is atomic if the file and the folder are
  /// on one file system. The response to an upload is synchronized to disk at once. The file of a download is
  /// synchronized later, before it is moved to its target.
  func takeFile(_ file: URL, for id: String) throws {
    let (from, to) = (file.path(percentEncoded: false), responseFile(of: id))
    do {
      try files.rename(from, to: to)
    } catch {
      guard error.code == EXDEV else { throw error }
      try? files.remove(to)
      try FileManager.default.moveItem(atPath: from, toPath: to)
    }
    if kind == .upload { try bringToDisk(to) }
  }

  /// Synchronizes a response file and its directory entry to disk. A failure to synchronize the directory entry is
  /// ignored. After such a failure, a crash can lose the response file, but cannot damage it.
  private func bringToDisk(_ responseFile: String) throws {
    let file = try files.open(responseFile, .existing)
    do {
      defer { try? files.close(file) }
      try files.synchronize(file)
    }
    try? files.synchronizeFolder(path)
  }

  func removeFile(of id: String) { try? files.remove(responseFile(of: id)) }

  func place(_ id: String, _ suffix: String) -> String { path + "/" + id + suffix }
}

extension BackgroundFolder where Record == BackgroundUploadState {
  /// The app's own file with its properties, if the request body is exactly one file. Nil if the body must first be
  /// written into a file of the library. A symbolic link is not accepted, because the link may point to another file
  /// when the system reads the body.
  func source(of body: HTTPBody, home: String) throws -> BackgroundSource? {
    guard let path = body.filePath, let status = try files.status(at: path), status.kind == .file else { return nil }
    // Opening the body throws an error if the file has changed since the request was built.
    _ = try body.open(BodyFlow {})
    return BackgroundSource(path, status, home: home)
  }

  /// The URL of the file into which the library wrote the request body.
  func bodyFile(of id: String) -> URL {
    URL(filePath: place(id, BackgroundKind.bodySuffix), directoryHint: .notDirectory)
  }

  /// Writes a request body into a file that only the user can read, and synchronizes the file. Does not run on the
  /// serial queue, because the source of the body may pause. Cancelling the task stops the writing.
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

  /// Reads the response body of a transfer. Throws if the body is longer than `limit` bytes.
  func responseBody(of id: String, limit: Int) throws -> Data {
    let file = try files.open(responseFile(of: id), .reading)
    defer { try? files.close(file) }
    let length = try files.status(of: file).length
    if length > Int64(limit) {
      throw TransportFailure(.tooLarge, "The response body has \(length) bytes, but at most \(limit) are allowed.")
    }
    return try read(file, length)
  }
}

extension BackgroundFolder where Record == BackgroundDownloadState {
  /// Validates the file of a download against the saved record. Returns the length of the file and the names of the
  /// digest algorithms whose checksums matched.
  func check(_ id: String, _ check: BackgroundCheck) throws -> (bytes: Int64, checkedBy: [String]) {
    let path = responseFile(of: id)
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
      if count == 0 { throw APIError.backgroundLength(place, insteadOf: length, kind) }
      body(UnsafeRawBufferPointer(rebasing: memory[..<count]))
      place += Int64(count)
    }
  }

  /// Synchronizes a downloaded file to disk, sets its permissions, and renames it to the target path.
  func placeFile(of id: String, at target: String, replacing: Bool, permissions: UInt16) throws {
    let path = responseFile(of: id)
    let file = try files.open(path, .existing)
    defer { try? files.close(file) }
    try files.setPermissions(beforeNaming: file, to: permissions)
    try files.synchronize(file)
    if replacing { try files.rename(path, to: target) } else { try files.renameExclusively(path, to: target) }
    // The complete file is at its target now, so later failures are ignored.
    try? files.setPermissions(afterNaming: file, to: permissions)
    try? files.synchronizeFolder(PartNames.folder(of: target))
  }

  /// Whether a target is on the same file system as this folder, so that a file can be renamed to it. Throws if the
  /// folder of the target does not exist.
  func canPlace(at target: String) throws -> Bool {
    let folder = PartNames.folder(of: target)
    let names = [path, folder].map { $0.hasSuffix("/") ? $0 : $0 + "/" }
    let devices = try names.map { name in try files.status(at: name + ".")?.identity.device }
    guard let there = devices.last ?? nil else {
      throw FileFailure.unusable(folder: folder, files)
        ?? FileFailure(.status, folder, .notFound, detail: "the folder cannot be examined")
    }
    return devices.first == there
  }
}

enum BackgroundKind: String, Sendable, Hashable {
  case download
  case upload

  var direction: TransferProgress.Direction {
    switch self {
    case .download: .download
    case .upload: .upload
    }
  }

  /// The word that error messages use for the result of a transfer: the file of a download, or the response to an
  /// upload.
  var product: String {
    switch self {
    case .download: "file"
    case .upload: "response"
    }
  }

  /// The advice at the end of an error message: what the app can do if the system lost a transfer or delivered a
  /// damaged file.
  var cure: String {
    switch self {
    case .download: "Start the download again."
    case .upload: "The server may have received the body anyway; ask the server before you start the upload again."
    }
  }

  /// The suffix of the file name of a saved record: `.download` or `.upload`.
  var recordSuffix: String { "." + rawValue }

  /// The suffix of the name of the file that contains the response body.
  var fileSuffix: String {
    switch self {
    case .download: ".bytes"
    case .upload: ".answer"
    }
  }

  /// The suffixes of the names of all files that a transfer may have in addition to its record.
  var fileSuffixes: [String] {
    switch self {
    case .download: [fileSuffix]
    case .upload: [fileSuffix, Self.bodySuffix]
    }
  }

  /// The suffix of the name of the file into which the library wrote a request body.
  static let bodySuffix = ".body"
}
