/// The members of a batch of one kind, and where their outcomes lie.
struct BatchRow<S: GroupStep>: Sendable {
  let steps: [S]
  let slots: [BatchSlot<S.Response>]

  init(_ steps: [S]) {
    self.steps = steps
    slots = steps.map { BatchSlot.fitting($0) }
  }

  var members: BatchMembers {
    BatchMembers(
      count: steps.count, name: { [steps] in MemberName(ofAny: steps[$0]) },
      run: { index, group in await slots[index].run(steps[index], in: group) })
  }
}
