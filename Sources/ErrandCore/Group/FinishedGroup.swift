/// A batch or a chain that has its value.
public struct FinishedGroup: Sendable {
  /// Who the group is.
  public let info: GroupInfo
  /// The value, of the group's response type.
  public let value: any Sendable
  /// What ran, in which order, how long, and from where.
  public let report: GroupReport

  /// Whether there were calls and the answers of all of them came from the cache.
  public var isFromCache: Bool { report.isFromCache }
}
