/// Marks the current task as one that runs an exchange interceptor. The call of the interceptor has a slot (the
/// permission to run one exchange) and waits for the interceptor. So requests that the interceptor sends must not wait
/// for that slot.
final class HeldSlot: Sendable {
  @TaskLocal static var present: HeldSlot?

  private let control: AdmissionControl
  private let outer: HeldSlot?
  private let time = TaskMark()

  private init(_ control: AdmissionControl, within outer: HeldSlot?) {
    self.control = control
    self.outer = outer
  }

  /// Runs an interceptor while its call has a slot. If the interceptor starts a task that runs longer than the
  /// interceptor, requests of that task wait for a slot as usual.
  static func during<Value: Sendable>(
    _ work: @Sendable () async throws -> Value, of control: AdmissionControl
  ) async rethrows -> Value {
    let slot = HeldSlot(control, within: present)
    defer { slot.time.end() }
    return try await $present.withValue(slot) { try await work() }
  }

  /// Whether the current task works for a call that has a slot in the queue of any client.
  static var isHeld: Bool { present?.isHeld { _ in true } == true }

  /// Whether this slot, or the slot of an enclosing call, belongs to `control`.
  func isHeld(of control: AdmissionControl) -> Bool { isHeld { $0 === control } }

  private func isHeld(_ matches: (AdmissionControl) -> Bool) -> Bool {
    time.lasts && matches(control) || outer?.isHeld(matches) == true
  }
}
