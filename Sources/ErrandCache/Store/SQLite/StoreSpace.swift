/// How much of the disk a store takes, and what has to be done about it. Decides, and performs nothing.
struct StoreSpace: Equatable {
  let settings: StoreSettings
  /// The index's pages, and those of them that are free.
  var pages: Int
  var freePages: Int
  /// The index's file; it lags behind its pages.
  var indexBytes: Int
  var logBytes: Int
  /// The files of all bodies.
  var fileBytes: Int

  private static let page = StoreSettings.pageSize
  /// A log that a reader keeps from being used again takes the place of content.
  private var limit: Int { settings.contentLimit - max(logBytes - settings.logLimit, 0) }
  private var used: Int { (pages - freePages) * Self.page + fileBytes }

  /// Whether the content leaves room for an entry.
  func holds(_ cost: StoreCost) -> Bool { used + cost.inline + cost.file <= limit }

  /// Whether so much has been evicted that the entries after it have room, too.
  func isTrimmed(_ cost: StoreCost) -> Bool {
    used + cost.inline + cost.file <= limit - settings.contentLimit / 20
  }

  /// Whether the disk would take no more than it may, were the entry written now.
  func fits(_ cost: StoreCost) -> Bool {
    let grown = pages * Self.page + max(0, cost.inline - freePages * Self.page)
    return holds(cost) && max(grown, indexBytes) + fileBytes + cost.file <= limit
  }

  /// How many free pages must be given back to the disk for that.
  func excessPages(_ cost: StoreCost) -> Int {
    let grown = pages * Self.page + max(0, cost.inline - freePages * Self.page)
    let excess = max(grown, indexBytes) + fileBytes + cost.file - limit
    return min(freePages, (max(0, excess) + Self.page - 1) / Self.page)
  }

  static func == (left: StoreSpace, right: StoreSpace) -> Bool {
    left.pages == right.pages && left.freePages == right.freePages && left.fileBytes == right.fileBytes
      && left.indexBytes == right.indexBytes && left.logBytes == right.logBytes
  }
}

/// What an entry takes on the disk, estimated before it is written.
struct StoreCost: Sendable, Equatable {
  var inline = 0
  var file = 0

  static let none = StoreCost()

  private init() {}

  init(head: Int, body: Int, settings: StoreSettings) {
    let isInline = body <= settings.inlineLimit
    let row = head + 128 + (isInline ? body : 0)
    inline = row <= 4_000 ? row * 2 : (row / 4_092 + 2) * StoreSettings.pageSize
    file = isInline ? 0 : body
  }

  static func += (left: inout StoreCost, right: StoreCost) {
    left.inline += right.inline
    left.file += right.file
  }
}
