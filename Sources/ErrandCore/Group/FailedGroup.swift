/// A batch or a chain that failed or was cancelled.
public struct FailedGroup: Sendable {
  /// Who the group is.
  public let info: GroupInfo
  /// Why it failed; ``APIError/members`` says which member it was.
  public let error: APIError
  /// What ran, in which order, how long, and from where.
  public let report: GroupReport
}
