import ErrandSupport

/// When sessions of accounts ended, so that no call goes on for an account that was logged out as it was frozen.
struct SessionBook: Sendable {
  static var limit: Int { 1_000 }

  /// Grows with each session that ends.
  private(set) var moment: UInt64 = 0
  private var ended: [ByteText: UInt64] = [:]
  /// What is forgotten ended at this moment or before.
  private var forgotten: UInt64 = 0

  mutating func end(_ account: String) {
    moment &+= 1
    ended[ByteText(account)] = moment
    guard ended.count > Self.limit, let oldest = ended.min(by: { $0.value < $1.value }) else { return }
    forgotten = oldest.value
    ended[oldest.key] = nil
  }

  /// Whether a session of the account ended after a moment.
  func hasEnded(_ account: String, since moment: UInt64) -> Bool { (ended[ByteText(account)] ?? forgotten) > moment }
}
