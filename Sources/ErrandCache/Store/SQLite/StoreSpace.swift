/// The disk space that a store uses, and the decisions that depend on this space. No function has side effects.
struct StoreSpace: Equatable {
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

  /// Whether an entry of this size fits into the limit for entries.
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

  static func == (left: StoreSpace, right: StoreSpace) -> Bool {
    left.pages == right.pages && left.freePages == right.freePages && left.fileBytes == right.fileBytes
      && left.indexBytes == right.indexBytes && left.logBytes == right.logBytes
  }
}

/// The disk space that an entry needs, in bytes (estimated).
struct StoreCost: Sendable, Equatable {
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
