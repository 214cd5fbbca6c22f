import Foundation

/// The disk space that a store uses, and the decisions that depend on this space. No function has side effects.
struct StoreSpace {
  let settings: StoreSettings
  /// The number of all pages of the index, including free pages.
  var pages: Int
  var freePages: Int
  /// The size of the index file in bytes. The file may not contain the newest pages yet.
  var indexBytes: Int
  var logBytes: Int
  /// The total size of the body files, in bytes.
  var fileBytes: Int

  private static let page = StoreSettings.pageSize
  /// The limit for entries, in bytes. If a reader prevents the truncation of the write-ahead log, the limit is reduced
  /// by the excess length of the log.
  private var limit: Int { settings.contentLimit - max(logBytes - settings.logLimit, 0) }
  private var used: Int { (pages - freePages) * Self.page + fileBytes }

  func holds(_ cost: StoreCost) -> Bool { used + cost.indexBytes + cost.fileBytes <= limit }

  /// Whether the store can stop evicting entries. This is the case if there is space for an entry of this size, and 5 %
  /// of the limit is left for further entries.
  func isTrimmed(_ cost: StoreCost) -> Bool {
    used + cost.indexBytes + cost.fileBytes <= limit - settings.contentLimit / 20
  }

  /// Whether the files of the store stay within the limit if an entry of this size is written now.
  func fits(_ cost: StoreCost) -> Bool {
    let grown = pages * Self.page + max(0, cost.indexBytes - freePages * Self.page)
    return holds(cost) && max(grown, indexBytes) + fileBytes + cost.fileBytes <= limit
  }

  /// The number of free pages that must be returned to the disk to make space for an entry of this size.
  func excessPages(_ cost: StoreCost) -> Int {
    let grown = pages * Self.page + max(0, cost.indexBytes - freePages * Self.page)
    let excess = max(grown, indexBytes) + fileBytes + cost.fileBytes - limit
    return min(freePages, (max(0, excess) + Self.page - 1) / Self.page)
  }
}

/// The disk space that an entry needs, in bytes (estimated).
struct StoreCost: Sendable {
  var indexBytes = 0
  var fileBytes = 0

  static let none = StoreCost()

  private init() {}

  init(head: Int, body: Int, settings: StoreSettings) {
    let isInline = body <= settings.inlineLimit
    let row = head + 128 + (isInline ? body : 0)
    indexBytes = row <= 4_000 ? row * 2 : (row / 4_092 + 2) * StoreSettings.pageSize
    fileBytes = isInline ? 0 : body
  }

  static func += (left: inout StoreCost, right: StoreCost) {
    left.indexBytes += right.indexBytes
    left.fileBytes += right.fileBytes
  }
}

extension StoreIndex {
  func space() throws(SQLiteFailure) -> StoreSpace {
    StoreSpace(
      settings: settings, pages: try number(.pages), freePages: try number(.freePages),
      indexBytes: SystemFile.length(settings.folder.index), logBytes: settings.folder.logLength,
      fileBytes: try fileBytes())
  }

  /// Makes space for an entry: evicts the least recently used entries, and returns free pages to the disk. Must be
  /// called outside a transaction. Each step is a separate transaction, and `pause` is called after each step.
  func makeRoom(_ cost: StoreCost, pause: () -> Void) throws(SQLiteFailure) {
    var space = try space()
    if !space.holds(cost) {
      while !space.isTrimmed(cost), try evictSome(cost) {
        pause()
        guard try holdsLog() else { throw .busy }
        space = try self.space()
      }
    }
    try releasePages(space.excessPages(cost), pause: pause)
  }

  /// Returns free pages to the disk and truncates the write-ahead log.
  /// - Parameter pages: The number of pages to return; nil for all free pages. If the value is nil, the log is
  ///   truncated even if no page is free, because the log may contain removed data.
  func releasePages(_ pages: Int? = nil, pause: () -> Void) throws(SQLiteFailure) {
    var rest = pages ?? 0
    if pages == nil { rest = try number(.freePages) }
    guard rest > 0 || pages == nil else { return }
    var isLogHeld = true
    while rest > 0 {
      // SQLite changes several pages to return one free page. So one step returns fewer pages than a transaction may
      // write.
      let step = min(rest, max(1, settings.framesPerTransaction / 4))
      try database.run("PRAGMA incremental_vacuum(\(step))")
      rest -= step
      pause()
      if isLogHeld { isLogHeld = try holdsLog() }
      // If `pages` is nil, removed data must be erased, so continue even though the log becomes too long.
      if !isLogHeld, pages != nil { throw .busy }
    }
    _ = try database.truncateLog()
  }

  /// Whether the write-ahead log is within its limit. Truncates the log if it is too long. Returns false if another
  /// process prevents the truncation.
  ///
  /// SQLite starts the log from its beginning only if no process is reading from it. If several processes read all the
  /// time, each transaction makes the log longer. So nothing is written until the log has been truncated.
  func holdsLog() throws(SQLiteFailure) -> Bool {
    guard settings.folder.logLength > settings.logLimit else { return true }
    return try database.truncateLog(atMost: .milliseconds(100))
  }

  private func ids(_ query: StoreQuery, _ values: [Int64]) throws(SQLiteFailure) -> [Int64] {
    let statement = try statement(query)
    defer { statement.reset() }
    for (place, value) in values.enumerated() { statement.bind(Int32(place + 1), value) }
    var ids: [Int64] = []
    while try statement.step() { ids.append(statement.number(0)) }
    return ids
  }

  /// Evicts a few entries. Returns false if the index has no entries. Entries whose last use is in the future are
  /// evicted first: the clock was set back after their use, so their order is unknown.
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
