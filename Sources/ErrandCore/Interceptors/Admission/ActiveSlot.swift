/// Marks the current task as a task that runs an exchange interceptor for an API call. The API call has a slot (the
/// permission to run one exchange), and waits for the interceptor. So a request that the interceptor sends must not
/// wait until this slot is free.
final class ActiveSlot: Sendable {
  @TaskLocal static var current: ActiveSlot?

  private let control: AdmissionControl
  private let outer: ActiveSlot?
  private let period = TaskPeriod()

  private init(_ control: AdmissionControl, within outer: ActiveSlot?) {
    self.control = control
    self.outer = outer
  }

  /// Runs an interceptor whose API call has a slot in an admission queue. While the interceptor runs, its requests do
  /// not wait for a slot. After the interceptor has ended, requests of tasks that the interceptor started wait for a
  /// slot as usual.
  static func during<Value: Sendable>(
    _ work: @Sendable () async throws -> Value, of control: AdmissionControl
  ) async rethrows -> Value {
    let slot = ActiveSlot(control, within: current)
    defer { slot.period.end() }
    return try await $current.withValue(slot) { try await work() }
  }

  /// Whether the current task works for a call that has a slot for an exchange in the admission queue of any client.
  static var isHeld: Bool { current?.isHeld { _ in true } == true }

  /// Whether the current task works for a call that has a slot for an exchange in the admission queue `control`.
  func isHeld(of control: AdmissionControl) -> Bool { isHeld { $0 === control } }

  private func isHeld(_ matches: (AdmissionControl) -> Bool) -> Bool {
    period.lasts && matches(control) || outer?.isHeld(matches) == true
  }
}
