import Foundation

extension PartFile {
  /// How often a part is looked for that others take away at the same time.
  private static let patience = 16

  /// Opens the part of a target, or makes it, and locks it.
  ///
  /// What lies there is brought into step with its record: bytes beyond those that the record promises are cut off, and
  /// a part without a usable record is emptied.
  /// - Throws: ``FileFailure``: busy where another download of the target is under way, planted where something lies
  ///   in the place of the part or of its record that no download makes, exists where the target is a folder.
  package static func open(target: String, files: any TransferFiles = SystemFiles()) throws -> PartFile {
    let names = PartNames(target)
    guard !target.isEmpty else { throw FileFailure(.open, target, .notFound, detail: "it has no name") }
    switch try files.status(at: target)?.kind {
    case nil, .file, .link: break
    case .folder: throw FileFailure(.open, target, .exists, detail: "it is a folder")
    case .other: throw FileFailure(.open, target, .exists, detail: "it is no plain file, and is not replaced")
    }
    for _ in 0..<patience {
      if let part = try attempt(names, files) { return part }
    }
    throw FileFailure(.lock, names.part, .busy, detail: "other downloads take it again and again")
  }

  /// Nil where the part was renamed or removed before it was locked.
  private static func attempt(_ names: PartNames, _ files: any TransferFiles) throws -> PartFile? {
    guard let (file, isNew) = try openOrMake(names.part, files) else { return nil }
    do {
      if let part = try locked(file, isNew: isNew, names, files) { return part }
    } catch {
      try? files.close(file)
      throw (error as? FileFailure)?.named(names.part) ?? error
    }
    try? files.close(file)
    return nil
  }

  private static func openOrMake(
    _ path: String, _ files: any TransferFiles
  ) throws(FileFailure) -> (file: Int32, isNew: Bool)? {
    do {
      return (try files.open(path, .new), true)
    } catch {
      guard error.kind == .exists else { throw error }
    }
    do {
      return (try files.open(path, .existing), false)
    } catch {
      guard error.kind == .notFound else { throw error }
      return nil
    }
  }

  private static func locked(
    _ file: Int32, isNew: Bool, _ names: PartNames, _ files: any TransferFiles
  ) throws -> PartFile? {
    try files.lock(file)
    let status = try files.status(of: file)
    // The holder before us may have given the file its last name between our opening and our lock.
    guard try files.status(at: names.part)?.identity == status.identity else { return nil }
    if status.links > 1, try files.status(at: names.target)?.identity == status.identity {
      // A finish by a second name was cut short: the target is whole, and the first name is left over.
      try files.remove(names.part)
      return nil
    }
    try check(status, names.part)
    let found = try record(isNew: isNew, length: status.length, names, files)
    let length = (try? found.get())?.finished.end ?? 0
    if status.length > length { try files.truncate(file, to: length) }
    let (record, problem): (PartRecord?, PartRecordProblem?)
    switch found {
    case .success(let value): (record, problem) = (value, nil)
    case .failure(let value): (record, problem) = (nil, value)
    }
    return PartFile(
      names: names, files: files, identity: status.identity, file: file, record: record, problem: problem)
  }

  /// The record that goes with a part. One that does not is removed for good, before a byte is written that it could be
  /// taken to speak of.
  private static func record(
    isNew: Bool, length: Int64, _ names: PartNames, _ files: any TransferFiles
  ) throws -> Result<PartRecord, PartRecordProblem> {
    var found = try readRecord(names, files)
    if found == .failure(.missing) { return found }
    if case .success(let record) = found, isNew || record.finished.end > length {
      found = .failure(isNew ? .missing : .shortPart)
    }
    if case .failure = found {
      // Who finished the part before may have done so in this moment.
      try files.removeIfThere(names.record)
      try files.synchronizeFolder(names.folder)
    }
    return found
  }

  /// Reads a record; throws where something lies in its place that no download makes.
  static func readRecord(
    _ names: PartNames, _ files: any TransferFiles
  ) throws(FileFailure) -> Result<PartRecord, PartRecordProblem> {
    let file: Int32
    do {
      file = try files.open(names.record, .reading)
    } catch {
      guard error.kind == .notFound else { throw error }
      return .failure(.missing)
    }
    let result: Result<PartRecord, PartRecordProblem>
    do {
      let status = try files.status(of: file)
      try check(status, names.record)
      result = try status.length > Int64(PartRecord.limit) ? .failure(.tooLarge) : contents(file, status.length, files)
    } catch {
      try? files.close(file)
      throw error.named(names.record)
    }
    try files.close(file)
    return result
  }

  private static func contents(
    _ file: Int32, _ length: Int64, _ files: any TransferFiles
  ) throws(FileFailure) -> Result<PartRecord, PartRecordProblem> {
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: max(Int(length), 1), alignment: 16)
    defer { memory.deallocate() }
    let count = try files.read(file, into: memory, at: 0)
    return PartRecord.read(Data(memory[..<count]))
  }

  /// A part and a record are plain files of our own with one name each. Anything else may lead our bytes elsewhere, or
  /// be another user's trap.
  private static func check(_ status: FileStatus, _ path: String) throws(FileFailure) {
    let detail: String
    if status.kind != .file {
      detail = "what lies in its place is no plain file"
    } else if !status.isOwn {
      detail = "it belongs to another user"
    } else if status.links > 1 {
      detail = "it has a second name (a hard link)"
    } else {
      return
    }
    throw FileFailure(.open, path, .planted, detail: detail + "; remove it to go on")
  }
}
