/// A member of a batch whose type nobody knew beforehand.
struct MixedEntry: Sendable {
  let name: @Sendable () -> MemberName
  let run: @Sendable (GroupScope) async -> APIError?
  /// How the member ended; nil for one that was never started.
  let outcome: @Sendable () -> Result<any Sendable, APIError>?

  init<S: GroupStep>(_ step: S) { self.init(step, BatchSlot.fitting(step)) }

  init<S: GroupStep>(_ step: S, _ slot: BatchSlot<S.Response>) {
    name = { MemberName(ofAny: step) }
    run = { group in await slot.run(step, in: group) }
    outcome = { slot.outcome?.map { $0 as any Sendable } }
  }

  /// The value of a member that must have one.
  func value() throws(APIError) -> any Sendable {
    guard let outcome = outcome() else { throw .stopped(.cancelled) }
    return try outcome.get()
  }
}

extension BatchMembers {
  init(_ entries: [MixedEntry]) {
    self.init(
      count: entries.count, name: { entries[$0].name() }, run: { index, group in await entries[index].run(group) })
  }
}
