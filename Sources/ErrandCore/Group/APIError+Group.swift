extension APIError {
  /// The error of a group that was stopped.
  ///
  /// - Parameter limit: The group's own deadline, where that has passed; nil where a group around it has stopped it.
  static func stopped(_ reason: CallState.StopReason, of group: GroupInfo, limit: Duration?) -> APIError {
    switch reason {
    case .cancelled: APIError(.cancelled, .cancelled, "The \(group.kind) was cancelled.")
    case .expired:
      APIError(
        .deadline, .deadline,
        limit.map {
          "The \(group.kind) did not end within its deadline of \($0); raise `deadline` to wait longer."
        } ?? "The \(group.kind) did not end within the deadline of the group it belongs to; raise that to wait longer.")
    }
  }

  /// The error of a call whose group came to its deadline.
  static var groupExpired: APIError {
    APIError(
      .deadline, .deadline, "The call did not end within the deadline of its group; raise that to wait longer.")
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
