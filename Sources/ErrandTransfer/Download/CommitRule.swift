/// When bytes are brought to the disk, and when the body waits for that. Functions of values.
enum CommitRule {
  /// So many bytes may be fetched twice after the power has failed: 8 MiB.
  static let bytes: Int64 = 8 << 20
  /// Or what came in so long.
  static let interval = Duration.seconds(1)
  /// From so many bytes on that are not on the disk yet, the body pauses: 64 MiB.
  static let most: Int64 = 64 << 20
  /// Room is set aside for files from this size on: 1 MiB.
  static let worthReserving: Int64 = 1 << 20

  /// Whether a commit is due.
  static func isDue(uncommitted: Int64, since last: Duration) -> Bool {
    uncommitted >= bytes || uncommitted > 0 && last >= interval
  }

  /// Whether the body has to wait.
  static func mustWait(uncommitted: Int64) -> Bool { uncommitted >= most }
}
