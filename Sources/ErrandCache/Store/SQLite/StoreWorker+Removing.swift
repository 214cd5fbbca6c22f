import ErrandCore

extension StoreWorker {
  /// Carries out a removal that may affect many entries, in several short transactions. Returns false for other writes.
  ///
  /// Pending lookups run between the transactions. They do not find the selected entries, because the removal stays in
  /// ``PendingWrites`` until its end. If the process ends in the meantime, the next process continues a removal by
  /// account, host, tag, group or age: it is in the journal before the first of several transactions, and without a
  /// journal there is only one transaction. Removals of single keys are in the journal only if they are delayed.
  /// - Parameter keepsLog: Whether the removal stops when the write-ahead log becomes too long.
  func removeInSlices(
    _ write: PendingWrites.Write, from index: StoreIndex, keepingLog keepsLog: Bool
  ) throws(SQLiteFailure) -> Bool {
    if case .removeMany(let removals) = write {
      try removeMany(removals, from: index, keepingLog: keepsLog)
      return true
    }
    guard let purges = write.removal.flatMap({ PurgeSet($0) }) else { return false }
    try remove(purges, from: index, keepingLog: keepsLog)
    return true
  }

  func removeMany(
    _ removals: CompactRemovals, from index: StoreIndex, keepingLog keepsLog: Bool
  ) throws(SQLiteFailure) {
    let size = settings.rowsPerRemoval
    try inSlices(Array(removals.targets), of: size, index, keepsLog) { target throws(SQLiteFailure) in
      try index.remove(.removeTarget, target)
    }
    try inSlices(Array(removals.keys), of: size, index, keepsLog) { removal throws(SQLiteFailure) in
      try index.remove(removal.key, removal.value)
    }
    guard !removals.purges.isEmpty else { return }
    try remove(removals.purges, from: index, keepingLog: keepsLog)
    if removals.purges.leavesTraces { try index.releasePages(pause: pause) }
  }

  private func remove(
    _ purges: PurgeSet, from index: StoreIndex, keepingLog keepsLog: Bool
  ) throws(SQLiteFailure) {
    let size = settings.rowsPerRemoval
    let ids = try index.ids(purges, pause: pause)
    let isSafe = ids.count <= size || isJournaled()
    try inSlices(ids, of: isSafe ? size : ids.count, index, keepsLog) { id throws(SQLiteFailure) in
      try index.remove(purges, id)
    }
  }

  /// Calls `body` for each element, in transactions for `size` elements each. Pending lookups run after each
  /// transaction.
  private func inSlices<Element>(
    _ elements: [Element], of size: Int, _ index: StoreIndex, _ keepsLog: Bool,
    _ body: (Element) throws(SQLiteFailure) -> Void
  ) throws(SQLiteFailure) {
    var rest = elements[...]
    while !rest.isEmpty {
      if keepsLog, try !index.holdsLog() { throw .busy }
      let some = rest.prefix(size)
      try index.transaction { () throws(SQLiteFailure) in for element in some { try body(element) } }
      rest = rest.dropFirst(some.count)
      pause()
    }
  }

  // MARK: - Removing in one transaction

  /// Removes entries in one transaction. If all entries or an account are removed, also erases the data.
  func remove(
    _ selections: [CacheSelection], from index: StoreIndex, pause: () -> Void
  ) throws(SQLiteFailure) {
    // Each removal by account, host, tag, group or age reads all rows, so they are carried out in one pass.
    var (purges, others) = (PurgeSet(), selections)
    others.removeAll { purges.insert($0) }
    try index.transaction { () throws(SQLiteFailure) in
      for selection in others { try index.remove(selection) }
      if !purges.isEmpty { try index.remove(purges) }
    }
    if selections.contains(where: \.leavesTraces) { try index.releasePages(pause: pause) }
  }
}

/// Removals that failed, and the journal that records failed and pending removals.
extension StoreWorker {
  /// The entries to remove on disk. If the salt of the folder could not be read, digests with the temporary salt match
  /// nothing on disk, so all entries are removed instead.
  func meant(_ selection: CacheSelection) -> CacheSelection {
    ownSalt?.origin == .temporary && selection.isByDigest ? .all : selection
  }

  /// Makes sure after a failed write that no lookup finds the entries that the write should have removed or replaced.
  func salvage() {
    // Start with all removals, because without reading the index it is unknown which entries are on disk.
    var removals = batch.compactMap(\.write.removal)
    var replaced = batch.compactMap(\.write.replaced)
    let many = batch.compactMap(\.write.many)
    do throws(SQLiteFailure) {
      try using { index throws(SQLiteFailure) in
        for removals in many { try removeMany(removals, from: index, keepingLog: false) }
        removals = try index.held(removals.map(meant))
        replaced = try index.held(replaced)
        let old = removals + replaced
        if !old.isEmpty { try remove(old, from: index, pause: pause) }
      }
    } catch {
      recordFailed((removals + many.flatMap(\.selections)).map(meant), replaced)
    }
  }

  /// Records failed removals. They are applied when the index is opened again, before anything is read.
  private func recordFailed(_ removals: [CacheSelection], _ replaced: [CacheSelection]) {
    guard !removals.isEmpty || !replaced.isEmpty else { return }
    index = nil
    failed.add(removals, replaced: replaced)
    guard !removals.isEmpty else { return }
    if failed.mayWriteFile(at: .now) { writeJournal() } else { mailbox.setRemovals(failed: failed.removalState) }
  }

  /// Records that all removals that had failed before have been applied now.
  func settle() {
    failed.settle()
    mailbox.setRemovals(failed: failed.removalState)
    removeJournalFile()
  }

  /// Tries again to record and to apply the removals that failed, although no lookup and no write needs the index.
  func retryFailedRemovals() {
    guard !failed.selections.isEmpty else { return }
    // Record the removals first, because opening the index may wait for another process.
    if failed.removalState == .pending, failed.mayWriteFile(at: .now) { writeJournal() }
    // Opening the index applies the removals.
    try? using { _ throws(SQLiteFailure) in }
  }

  /// Removes the entries whose newer versions could not be written. Lookups do not find them before that, either.
  func removeReplaced(from index: StoreIndex) throws(SQLiteFailure) {
    guard !failed.replaced.isEmpty else { return }
    try remove(failed.replaced, from: index, pause: {})
    failed.settleReplaced()
  }

  // MARK: - The journal

  /// Records pending removals in the journal: of many entries immediately, of single entries after a second.
  /// - Parameter isLong: Whether the current batch of writes has been tried for more than a second.
  func writeJournalIfDue(isLong: Bool) {
    guard failed.mayWriteFile(at: .now) else { return }
    let isDue =
      mailbox.pending(\.hasUnjournaledPurge) || isLong && mailbox.pending(\.removalState) == .pending
    if isDue { writeJournal() }
  }

  /// Whether the pending removals of many entries are in the journal. Writes the journal if necessary.
  func isJournaled() -> Bool {
    !mailbox.pending(\.hasUnjournaledPurge) || failed.mayWriteFile(at: .now) && writeJournal()
  }

  /// Records the failed and the pending removals in the journal, so that they are applied even if the process ends.
  /// Returns false if the disk rejects the record.
  @discardableResult
  private func writeJournal() -> Bool {
    let waiting = mailbox.pending(\.removals)
    let removals = failed.selections + waiting.selections.map(meant)
    guard !removals.isEmpty else { return true }
    guard let file = settings.folder.journal.write(removals) else {
      failed.rejected(at: .now)
      mailbox.setRemovals(failed: failed.removalState)
      return false
    }
    if let old = failed.recorded(in: file, count: removals.count, at: .now) { settings.folder.journal.remove(old) }
    mailbox.setRemovals(failed: failed.removalState, journaled: waiting)
    return true
  }

  /// Removes the journal file of this process when its removals have been applied and synchronised with the disk.
  /// Otherwise the file stays until the index is opened again.
  func removeJournalFile() {
    guard let file = failed.unneededFile(hasPending: mailbox.pending(\.hasJournaledRemoval)),
      settings.folder.synchronizeLog()
    else { return }
    settings.folder.journal.remove(file)
    failed.removedFile()
  }
}
