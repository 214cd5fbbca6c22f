import Foundation

extension StoreIndex {
  func space() throws(SQLiteFailure) -> StoreSpace {
    StoreSpace(
      settings: settings, pages: try number(.pages), freePages: try number(.freePages),
      indexBytes: SystemFile.length(settings.folder.index), logBytes: settings.folder.logLength,
      fileBytes: try fileBytes())
  }

  /// Evicts what was not used for longest, and gives pages back to the disk, until an entry has its place. Outside a
  /// transaction; each step is one of its own, and `pause` runs after each.
  func makeRoom(_ cost: StoreCost, pause: () -> Void) throws(SQLiteFailure) {
    if settings.folder.logLength > settings.logLimit { try shortenLog() }
    var space = try space()
    if !space.holds(cost) {
      while !space.isTrimmed(cost), try evictSome(cost) {
        pause()
        space = try self.space()
      }
    }
    try giveBack(space.excessPages(cost), pause: pause)
  }

  /// Gives free pages back to the disk; all of them where nil, and then cuts off the log even where none is free: it
  /// has what was removed from pages that others still use.
  func giveBack(_ pages: Int? = nil, pause: () -> Void) throws(SQLiteFailure) {
    var rest = pages ?? 0
    if pages == nil { rest = try number(.freePages) }
    guard rest > 0 || pages == nil else { return }
    while rest > 0 {
      let step = min(rest, settings.framesPerTransaction)
      try database.run("PRAGMA incremental_vacuum(\(step))")
      rest -= step
      pause()
    }
    try shortenLog()
  }

  /// Brings the log into the index and cuts it off. Without effect where another process reads from it for long.
  func shortenLog() throws(SQLiteFailure) {
    try database.run("PRAGMA wal_checkpoint(TRUNCATE)")
  }

  /// Evicts a few entries; false where there are none.
  private func evictSome(_ cost: StoreCost) throws(SQLiteFailure) -> Bool {
    try transaction { () throws(SQLiteFailure) in
      let statement = try statement(.oldest)
      statement.bind(1, Int64(max(1, min(64, settings.framesPerTransaction / 16))))
      var ids: [Int64] = []
      while try statement.step() { ids.append(statement.number(0)) }
      statement.reset()
      for id in ids {
        try remove(.removeRow, id)
        if try space().isTrimmed(cost) { break }
      }
      return !ids.isEmpty
    }
  }
}
