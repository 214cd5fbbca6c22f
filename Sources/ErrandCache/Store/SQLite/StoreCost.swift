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
