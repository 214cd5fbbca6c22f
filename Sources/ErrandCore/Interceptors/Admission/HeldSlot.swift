/// That the present task is an exchange interceptor's: its call has a slot, and what it sends itself must not wait for
/// that.
final class HeldSlot: Sendable {
  @TaskLocal static var present: HeldSlot?

  private let control: AdmissionControl
  private let outer: HeldSlot?
  private let time = MarkedTime()

  private init(_ control: AdmissionControl, within outer: HeldSlot?) {
    self.control = control
    self.outer = outer
  }

  /// Runs an interceptor that works while its call has a slot. A task that it leaves behind waits as any other.
  static func during<Value: Sendable>(
    _ work: @Sendable () async throws -> Value, of control: AdmissionControl
  ) async rethrows -> Value {
    let slot = HeldSlot(control, within: present)
    defer { slot.time.end() }
    return try await $present.withValue(slot) { try await work() }
  }

  /// Whether the present task works for a call that has a slot, of whichever client.
  static var isHeld: Bool { present?.isHeld { _ in true } == true }

  /// Whether the slot, or one around it, is another's.
  func isHeld(of control: AdmissionControl) -> Bool { isHeld { $0 === control } }

  private func isHeld(_ matches: (AdmissionControl) -> Bool) -> Bool {
    time.lasts && matches(control) || outer?.isHeld(matches) == true
  }
}
