/// What ``APIClient/drain(within:)`` did. Members of groups are counted like other calls, and each group counts as one
/// more.
public struct DrainReport: Sendable, Hashable {
  /// The number of calls and groups that ended by themselves after draining began, with success or with an error.
  public let finished: Int
  /// The number of calls and groups that were cancelled, because they had not ended in time.
  public let cancelled: Int
  /// The number of calls and groups that still ran when draining was given up, although they were cancelled: code of
  /// the app, such as a hook, did not return.
  public let unfinished: Int
  /// The number of calls, groups and reconnections of event streams that were refused while the client drained.
  public let refused: Int
  /// Whether the cache of the client has carried out its pending writes. True for a client without a cache.
  public let isCacheWritten: Bool
  /// Whether background refreshes of the client's cache were cancelled, because they had not ended in time.
  public internal(set) var hasCancelledRefreshes = false

  /// Whether everything ended by itself in time: no call and no background refresh was cancelled, and the cache is
  /// written.
  public var isComplete: Bool { cancelled == 0 && unfinished == 0 && isCacheWritten && !hasCancelledRefreshes }
}
