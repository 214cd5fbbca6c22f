import Foundation

extension PartFile {
  /// The number of attempts to open and lock the partial file. An attempt fails if another download removes the file
  /// between opening and locking.
  private static let patience = 16

  /// Opens or creates the partial file of a target, and locks it.
  ///
  /// An existing partial file is made consistent with its metadata record: bytes that the record does not contain are
  /// cut off, and a partial file without a usable record is emptied.
  /// - Throws: ``FileFailure``: `busy` if another download of the target is in progress, `planted` if the path of the
  ///   partial file or of its record holds something that no download creates, `exists` if the target is a folder,
  ///   `notFound` if the folder of the target does not exist or is a file.
  package static func open(target: String, files: any TransferFiles = SystemFiles()) throws -> PartFile {
    let names = PartNames(target)
    guard !target.isEmpty else {
      throw FileFailure(.open, target, .notFound, detail: "the path is empty; pass the path of the file")
    }
    do {
      try check(target, files)
      // The path of the temporary file is the longest. Fails here, before a byte is fetched, if it is too long.
      _ = try files.status(at: names.temporary)
      for _ in 0..<patience {
        if let part = try attempt(names, files) { return part }
      }
    } catch let failure as FileFailure where failure.kind == .notFound {
      throw FileFailure.unusable(folder: names.folder, files) ?? failure
    }
    throw FileFailure(.lock, names.part, .busy, detail: "other downloads keep replacing the file; try again later")
  }

  /// Throws if something other than a file is in the place of the target.
  package static func check(
    _ target: String, _ files: any TransferFiles, isNamedByServer: Bool = false
  ) throws(FileFailure) {
    switch try files.status(at: target)?.kind {
    case nil, .file, .link: return
    case .folder:
      let cure =
        isNamedByServer
        ? "remove it, or name the file with `Download.to`" : "to download into the folder, use `Download.into`"
      let detail = "the target is a folder; \(cure)"
      throw FileFailure(.open, target, .exists, detail: detail)
    case .other: throw FileFailure(.open, target, .exists, detail: "the target is not a regular file; use another path")
    }
  }

  /// Makes one attempt to open and lock the partial file. Nil if another download renamed or removed the file before it
  /// was locked.
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
    // The download that held the lock before may have renamed the file to its target after this method opened the file.
    guard try files.status(at: names.part)?.identity == status.identity else { return nil }
    if status.links > 1, try isRenamed(status.identity, names, files) {
      // An earlier rename, which was made of a new hard link and a removal, was interrupted after the link. The target
      // is complete, so the old name can be removed.
      try files.remove(names.part)
      return nil
    }
    try check(status, names.part, isNew: isNew)
    // An earlier process may have set the permissions of the target and died before the rename.
    if !isNew { try files.makePrivate(file) }
    let metadata = try loadMetadata(isNew: isNew, length: status.length, names, files)
    let length = metadata?.finished.end ?? 0
    if status.length > length { try files.truncate(file, to: length) }
    return PartFile(
      names: names, files: files, identity: status.identity, isOwn: status.isOwn, file: file, metadata: metadata)
  }

  /// Whether a partial file has also the name of its target, or the name that the server chose for the target. The
  /// server's name is known only from the metadata record. So a rename to this name is not found if the file arrived
  /// before the first commit. The partial file is then rejected as a file with a second name, although the target is
  /// complete.
  private static func isRenamed(
    _ part: FileIdentity, _ names: PartNames, _ files: any TransferFiles
  ) throws(FileFailure) -> Bool {
    if try files.status(at: names.target)?.identity == part { return true }
    guard let name = try? readMetadata(names, files).metadata?.name else { return false }
    return try files.status(at: names.folder + "/" + name)?.identity == part
  }

  /// Reads the metadata record of a partial file; nil if there is no usable record. A record that does not match the
  /// partial file is removed from disk before any byte is written, so that it cannot be mistaken for the record of the
  /// new bytes.
  private static func loadMetadata(
    isNew: Bool, length: Int64, _ names: PartNames, _ files: any TransferFiles
  ) throws -> PartMetadata? {
    let found = try readMetadata(names, files)
    if let metadata = found.metadata, !isNew, metadata.finished.end <= length { return metadata }
    if found.isThere {
      // Ignore a missing metadata record. The download that used the partial file before may be removing the record at
      // this moment.
      try files.removeIfThere(names.metadata)
      try files.synchronizeFolder(names.folder)
    }
    return nil
  }

  /// Reads a metadata record; the metadata is nil if the record is missing or cannot be used. Throws if the path of the
  /// record holds something that no download creates, such as a link.
  static func readMetadata(
    _ names: PartNames, _ files: any TransferFiles
  ) throws(FileFailure) -> (isThere: Bool, metadata: PartMetadata?) {
    let file: Int32
    do {
      file = try files.open(names.metadata, .reading)
    } catch {
      guard error.kind == .notFound else { throw error }
      return (false, nil)
    }
    let metadata: PartMetadata?
    do {
      let status = try files.status(of: file)
      try check(status, names.metadata)
      metadata = try status.length > Int64(PartMetadata.limit) ? nil : contents(file, status.length, files)
    } catch {
      try? files.close(file)
      throw error.named(names.metadata)
    }
    try files.close(file)
    return (true, metadata)
  }

  private static func contents(
    _ file: Int32, _ length: Int64, _ files: any TransferFiles
  ) throws(FileFailure) -> PartMetadata? {
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: max(Int(length), 1), alignment: 16)
    defer { memory.deallocate() }
    let count = try files.read(file, into: memory, at: 0)
    return PartMetadata.read(Data(memory[..<count]))
  }

  /// Checks that a partial file or a metadata record is a regular file of this user with only one name. Anything else
  /// may redirect the written bytes to another file, or be an attack by another user.
  /// - Parameter isNew: Whether this download has just created the file. The owner is not checked then, because some
  ///   file systems report another owner: NFS gives the files of root to the user `nobody`, and the shared folder of a
  ///   virtual machine may have one owner for all files.
  private static func check(_ status: FileStatus, _ path: String, isNew: Bool = false) throws(FileFailure) {
    let detail: String
    if status.kind != .file {
      detail = "the file is not a regular file"
    } else if !status.isOwn, !isNew {
      detail = "the file belongs to another user"
    } else if status.links > 1 {
      detail = "the file has a second name (hard link)"
    } else {
      return
    }
    throw FileFailure(.open, path, .planted, detail: detail + "; remove it and try again")
  }
}
