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
    var space = try space()
    if !space.holds(cost) {
      while !space.isTrimmed(cost), try evictSome(cost) {
        pause()
        guard try holdsLog() else { throw .busy }
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
    var isLogHeld = true
    while rest > 0 {
      // A page that is moved takes others along.
      let step = min(rest, max(1, settings.framesPerTransaction / 4))
      try database.run("PRAGMA incremental_vacuum(\(step))")
      rest -= step
      pause()
      if isLogHeld { isLogHeld = try holdsLog() }
      // What is to leave no trace is given back however long the log becomes.
      if !isLogHeld, pages != nil { throw .busy }
    }
    _ = try database.cutLog(waiting: .milliseconds(10), atMost: SQLitePatience.longest)
  }

  /// Whether the log is within its limit, cut off where it was not; false where another process keeps it from that.
  ///
  /// SQLite begins the log anew only at a moment when nobody reads from it. Where several processes read all the time
  /// there is none, and each transaction makes it longer: so nothing is written until one is made.
  func holdsLog() throws(SQLiteFailure) -> Bool {
    guard settings.folder.logLength > settings.logLimit else { return true }
    return try database.cutLog(waiting: .milliseconds(10), atMost: .milliseconds(100))
  }

  private func ids(_ query: StoreQuery, _ values: [Int64]) throws(SQLiteFailure) -> [Int64] {
    let statement = try statement(query)
    defer { statement.reset() }
    for (place, value) in values.enumerated() { statement.bind(Int32(place + 1), value) }
    var ids: [Int64] = []
    while try statement.step() { ids.append(statement.number(0)) }
    return ids
  }

  /// Evicts a few entries; false where there are none. First come those that were used after the present, since the
  /// clock was set back: nobody knows how long ago that was.
  private func evictSome(_ cost: StoreCost) throws(SQLiteFailure) -> Bool {
    try transaction { () throws(SQLiteFailure) in
      let most = max(1, min(64, settings.framesPerTransaction / 16))
      var ids = try ids(.ahead, [Int64(most), WallTime.now.milliseconds])
      if ids.isEmpty { ids = try self.ids(.oldest, [Int64(most)]) }
      for id in ids {
        try remove(.removeRow, id)
        if try space().isTrimmed(cost) { break }
      }
      return !ids.isEmpty
    }
  }
}
