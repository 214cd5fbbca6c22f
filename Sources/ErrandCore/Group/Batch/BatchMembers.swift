/// The members of one run of a batch: how each runs, and what it is called; nothing of types is said outside.
struct BatchMembers: Sendable {
  let count: Int
  let name: @Sendable (Int) -> MemberName
  /// Runs a member in a group; returns why it failed.
  let run: @Sendable (Int, GroupScope) async -> APIError?
}
