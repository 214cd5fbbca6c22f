extension APIError {
  /// The error of a group that was stopped.
  static func stopped(_ reason: CallState.StopReason, of group: GroupInfo, limit: Duration?) -> APIError {
    switch reason {
    case .cancelled: APIError(.cancelled, .cancelled, "The \(group.kind) was cancelled.")
    case .expired:
      APIError(
        .deadline, .deadline,
        "The \(group.kind) did not end within its deadline\(limit.map { " of \($0)" } ?? ""); raise `deadline` to wait longer."
      )
    }
  }

  /// What an error thrown in a group's body means to the caller.
  static func mapping(_ error: any Error, in group: GroupInfo) -> APIError {
    switch error {
    case is APIError, is CallState.Stopped, is CancellationError: mapping(error, as: .group)
    default: APIError(.group, .step, sentence("a step of the \(group.kind) failed: \(error)"), cause: error)
    }
  }

  /// The same error as one of a group's member; where the member is a group itself, its own member follows.
  func ofMember(_ member: GroupMember) -> APIError {
    with { $0.members.insert(member, at: 0) }
  }
}
