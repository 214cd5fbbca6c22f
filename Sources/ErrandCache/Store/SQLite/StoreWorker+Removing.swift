import Foundation

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
