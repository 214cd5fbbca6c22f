import ErrandCore

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
        removals = try index.held(removals)
        replaced = try index.held(replaced)
        let old = removals.map(meant) + replaced
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
