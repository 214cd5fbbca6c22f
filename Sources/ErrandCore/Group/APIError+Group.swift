extension APIError {
  /// The error of a group that was cancelled, or whose deadline has passed.
  ///
  /// - Parameter limit: The time limit of the group itself, if this limit was exceeded. Nil if the group was cancelled,
  ///   or if the deadline of an outer group has passed.
  static func stopped(_ reason: CallState.StopReason, of group: GroupInfo, limit: Duration?) -> APIError {
    switch reason {
    case .cancelled: APIError(.cancelled, .cancelled, "The \(group.kind) was cancelled.")
    case .expired:
      APIError(
        .deadline, .deadline,
        limit.map {
          "The \(group.kind) did not end within its deadline of \($0); raise `deadline` to wait longer."
        } ?? "The \(group.kind) did not end within the deadline of its outer group; raise `deadline` of the outer group"
          + " to wait longer.")
    }
  }

  /// The error of a call that was stopped because the deadline of its group has passed.
  static var groupExpired: APIError {
    APIError(
      .deadline, .deadline,
      "The call did not end within the deadline of its group; raise `deadline` of the group to wait longer.")
  }

  /// Converts an error that the body of a group threw into the error that the caller receives.
  static func mapping(_ error: any Error, in group: GroupInfo) -> APIError {
    switch error {
    case is APIError, is CallState.Stopped, is CancellationError: mapping(error, as: .group)
    default: APIError(.group, .step, sentence("a step of the \(group.kind) failed: \(error)"), cause: error)
    }
  }

  /// Returns a copy of this error with a member added at the front of ``APIError/members``. The outermost failed member
  /// is the first in the list. If a member is a group, the next element of the list is the member that failed in this
  /// group.
  func ofMember(_ member: GroupMember) -> APIError {
    with { $0.members.insert(member, at: 0) }
  }
}
