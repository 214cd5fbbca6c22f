extension APIError {
  /// The error of a stopped group.
  ///
  /// - Parameter limit: The group's own deadline, if that has passed; nil if an outer group stopped it.
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

  /// The error of a call whose group's deadline has passed.
  static var groupExpired: APIError {
    APIError(
      .deadline, .deadline,
      "The call did not end within the deadline of its group; raise `deadline` of the group to wait longer.")
  }

  /// Converts an error that a group's body threw into the caller's error.
  static func mapping(_ error: any Error, in group: GroupInfo) -> APIError {
    switch error {
    case is APIError, is CallState.Stopped, is CancellationError: mapping(error, as: .group)
    default: APIError(.group, .step, sentence("a step of the \(group.kind) failed: \(error)"), cause: error)
    }
  }

  /// Returns this error with a member added at the front of the member path. If the member is a group, the path
  /// continues with the failed member of that group.
  func ofMember(_ member: GroupMember) -> APIError {
    with { $0.members.insert(member, at: 0) }
  }
}
