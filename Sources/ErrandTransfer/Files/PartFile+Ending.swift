extension PartFile {
  /// Renames the partial file to the target, which is then complete. If a step before the rename fails, the target is
  /// unchanged.
  ///
  /// - Parameters:
  ///   - total: The required length in bytes; nil if it is not known.
  ///   - overwriting: Whether to replace an existing target. If the target is a link, the link itself is replaced.
  ///   - target: Another path in the same folder; nil for the target that the partial file was opened for.
  ///   - permissions: The permissions of the target; nil leaves the target accessible to its owner alone.
  /// - Throws: ``FileFailure``: `length` if bytes are missing, `exists` if the target exists and must not be replaced.
  ///   In both cases the partial file and its metadata record are kept, accessible to their owner alone, and the call
  ///   may be repeated. If a step after the rename fails, such as synchronizing the folder, this method throws although
  ///   the target is complete.
  package func finish(
    total: Int64?, overwriting: Bool, as target: String? = nil, permissions: UInt16? = nil
  ) throws {
    let target = target ?? names.target
    let written = written
    guard written.isPrefix, written.end == total ?? written.end else {
      let detail = "\(written.count) bytes were received instead of \(total ?? written.end)"
      throw FileFailure(.rename, names.part, .length, detail: detail)
    }
    try use(.exclusive, isFatal: false) { file in
      do {
        try settle(file, length: written.end, permissions)
        try rename(to: target, overwriting: overwriting)
      } catch {
        restorePrivacy(of: file)
        throw error
      }
      noteFinish()
      // Remove the metadata record at once, because another download of the same target may create its own files after
      // the rename. A failure to remove the record is ignored, because a record without its partial file is harmless.
      try? files.removeIfThere(names.metadata)
      if let permissions { try files.setPermissions(afterNaming: file, to: permissions) }
      try files.synchronizeFolder(names.folder)
    }
  }

  /// Removes the partial file and its metadata record, and closes the file.
  package func abandon() throws {
    defer { close() }
    try use(.removal, isFatal: false) { _ in
      // Remove the metadata record first. If the partial file then cannot be removed, a partial file without a record
      // is left, which is never resumed.
      for path in [names.metadata, names.temporary] { try files.removeIfThere(path) }
      if try files.status(at: names.part)?.identity == identity { try files.removeIfThere(names.part) }
    }
  }

  private func rename(to target: String, overwriting: Bool) throws {
    guard try files.status(at: names.part)?.identity == identity else {
      throw FileFailure(.rename, names.part, .planted, detail: "another file has replaced the partial file")
    }
    try? files.removeIfThere(names.temporary)
    if overwriting {
      try files.rename(names.part, to: target)
    } else {
      try files.renameExclusively(names.part, to: target)
    }
  }

  /// Makes a partial file that was not renamed accessible to its owner alone again. If a network file system has
  /// renamed the file and reports a failure all the same, the file is the target and keeps its permissions.
  private func restorePrivacy(of file: Int32) {
    guard (try? files.status(at: names.part))?.identity == identity else { return }
    try? files.makePrivate(file)
  }

  /// Synchronizes the complete partial file to disk. If this fails, it is unknown which bytes are on the disk. So the
  /// bytes written since the last commit are discarded.
  private func settle(_ file: Int32, length: Int64, _ permissions: UInt16?) throws {
    let status = try files.status(of: file)
    guard status.length >= length else {
      throw FileFailure(.rename, names.part, .length, detail: "the file has only \(status.length) of \(length) bytes")
    }
    if status.length > length { try files.truncate(file, to: length) }
    if let permissions { try files.setPermissions(beforeNaming: file, to: permissions) }
    do {
      try files.synchronize(file)
    } catch {
      noteFailure(error)
      throw error
    }
  }
}

extension TransferFiles {
  /// Sets the permissions of a file before its rename. The file stays readable and writable for its owner until the
  /// rename, because the owner must be able to open the file again after a crash.
  package func setPermissions(beforeNaming file: Int32, to mode: UInt16) throws(FileFailure) {
    try setPermissions(of: file, to: mode | Self.ownersOwn)
  }

  /// Sets the final permissions of a file after its rename, if the owner must not be able to read or write the file. In
  /// all other cases, the permissions were already set before the rename.
  package func setPermissions(afterNaming file: Int32, to mode: UInt16) throws(FileFailure) {
    if mode & Self.ownersOwn != Self.ownersOwn { try setPermissions(of: file, to: mode) }
  }

  /// Makes a file accessible to its owner alone.
  func makePrivate(_ file: Int32) throws(FileFailure) { try setPermissions(of: file, to: Self.ownersOwn) }

  private static var ownersOwn: UInt16 { 0o600 }

  /// Removes a file; a missing file counts as removed.
  func removeIfThere(_ path: String) throws(FileFailure) {
    do {
      try remove(path)
    } catch {
      if error.kind != .notFound { throw error }
    }
  }
}
