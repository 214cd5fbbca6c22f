extension PartFile {
  /// Gives the file its last name: the target is there, whole, or as it was before.
  ///
  /// - Parameters:
  ///   - total: The length it must have; nil where nobody has said.
  ///   - overwriting: Whether a target that is there is replaced. A link in its place is replaced itself.
  ///   - target: Another name for it in the same folder; nil for the one it was opened for.
  ///   - permissions: Who may read and write the target; nil leaves it to its owner alone.
  /// - Throws: ``FileFailure``: length where bytes are missing, exists where the target is there and must stay; part
  ///   and record are kept then, and the call may be made again. Where something fails after the rename, such as bringing
  ///   the folder to the disk, this throws and the target is there, whole.
  package func finish(
    total: Int64?, overwriting: Bool, as target: String? = nil, permissions: UInt16? = nil
  ) throws {
    let target = target ?? names.target
    let written = written
    guard written.isPrefix, written.end == total ?? written.end else {
      let detail = "\(written.count) bytes came, not \(total.map(String.init) ?? "all up to \(written.end)")"
      throw FileFailure(.rename, names.part, .length, detail: detail)
    }
    try use(.alone, isFatal: false) { file in
      try settle(file, length: written.end, permissions)
      guard try files.status(at: names.part)?.identity == identity else {
        throw FileFailure(.rename, names.part, .planted, detail: "another file has taken its place")
      }
      try? files.removeIfThere(names.temporary)
      if overwriting {
        try files.rename(names.part, to: target)
      } else {
        try files.renameExclusively(names.part, to: target)
      }
      noteFinish()
      // At once: from the rename on another download may take the names. A record without its part is harmless, so that
      // a failure here is none of the download.
      try? files.removeIfThere(names.record)
      if let permissions { try files.setPermissions(afterNaming: file, to: permissions) }
      try files.synchronizeFolder(names.folder)
    }
  }

  /// Removes the part and its record, and closes the file.
  package func abandon() throws {
    defer { close() }
    try use(.last, isFatal: false) { _ in
      // The record goes first: what is left without one is never gone on with.
      for path in [names.record, names.temporary] { try files.removeIfThere(path) }
      if try files.status(at: names.part)?.identity == identity { try files.removeIfThere(names.part) }
    }
  }

  /// Brings the whole to the disk. A failure leaves in doubt what is there: then nothing since the last commit counts.
  private func settle(_ file: Int32, length: Int64, _ permissions: UInt16?) throws {
    let status = try files.status(of: file)
    guard status.length >= length else {
      throw FileFailure(.rename, names.part, .length, detail: "it has \(status.length) bytes and should have \(length)")
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
  /// Gives a file that is about to get its name the permissions, but lets its owner read and write it still: whoever is
  /// stopped before the rename has to open it again.
  func setPermissions(beforeNaming file: Int32, to mode: UInt16) throws(FileFailure) {
    try setPermissions(of: file, to: mode | Self.ownersOwn)
  }

  /// Takes away what the owner had only until the file got its name.
  func setPermissions(afterNaming file: Int32, to mode: UInt16) throws(FileFailure) {
    if mode & Self.ownersOwn != Self.ownersOwn { try setPermissions(of: file, to: mode) }
  }

  private static var ownersOwn: UInt16 { 0o600 }

  /// Removes a file; one that is not there counts as removed.
  func removeIfThere(_ path: String) throws(FileFailure) {
    do {
      try remove(path)
    } catch {
      if error.kind != .notFound { throw error }
    }
  }
}
