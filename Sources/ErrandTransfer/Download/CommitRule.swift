/// When bytes are brought to the disk, and when the body waits for that. A function of values.
///
/// What is not on the disk is fetched twice after a crash: so at most a twelfth of the file, or 8 MiB where that is
/// more, and never over 64 MiB. Each time takes the disk three writes beside the bytes, so none comes before half of that.
struct CommitRule: Sendable {
  /// Received bytes are committed after this time, however few they are.
  static let interval = Duration.seconds(1)
  /// Room is set aside for files from this size on: 1 MiB.
  static let worthReserving: Int64 = 1 << 20

  /// From so many bytes on that are not on the disk yet, the body pauses.
  let most: Int64

  /// The rule for a file of a length; nil where nobody has said.
  init(total: Int64?) { most = min(max((total ?? .max) / 12, 8 << 20), 64 << 20) }

  /// Whether a commit is due before the time is over.
  func isDue(uncommitted: Int64) -> Bool { uncommitted >= most / 2 }

  /// Whether the body has to wait.
  func mustWait(uncommitted: Int64) -> Bool { uncommitted >= most }
}
