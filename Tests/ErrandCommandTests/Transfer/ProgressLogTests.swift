import Testing

@testable import ErrandCommand

struct ProgressLogTests {
  private static let mib: Int64 = 1 << 20

  private func lines(_ states: [ProgressState]) -> [String] {
    var log = ProgressLog()
    return states.flatMap { log.lines($0) }
  }

  private func state(
    _ bytes: Int64, of total: Int64? = 100 << 20, _ phase: ProgressState.Phase = .running
  ) -> ProgressState {
    ProgressState(name: "f", phase: phase, bytes: bytes, total: total)
  }

  @Test func `each tenth is reported once`() {
    let states = (0...100).map { state(Int64($0) * Self.mib) }
    let told = lines(states + [state(100 * Self.mib, .done)])
    #expect(told.first == "f: starts, 100.0 MiB")
    #expect(told.dropFirst().first == "f: 10 %, 10.0 MiB of 100.0 MiB")
    #expect(told.last == "f: done, 100.0 MiB")
    #expect(told.count == 11)
  }

  @Test func `a large step is one line`() {
    let told = lines([state(0), state(57 * Self.mib), state(58 * Self.mib), state(60 * Self.mib)])
    #expect(told == ["f: starts, 100.0 MiB", "f: 50 %, 57.0 MiB of 100.0 MiB", "f: 60 %, 60.0 MiB of 100.0 MiB"])
  }

  @Test func `a resumed transfer starts at its bytes`() {
    var begun = state(45 * Self.mib)
    begun.kept = 44 * Self.mib
    let told = lines([begun, state(49 * Self.mib), state(50 * Self.mib)])
    #expect(told == ["f: resumes at 45.0 MiB of 100.0 MiB", "f: 50 %, 50.0 MiB of 100.0 MiB"])
  }

  @Test func `fewer bytes than kept mean a new start`() {
    var begun = state(3 * Self.mib)
    begun.kept = 44 * Self.mib
    #expect(lines([begun]) == ["f: starts, 100.0 MiB"])
    #expect(lines([state(3 * Self.mib)]) == ["f: starts, 100.0 MiB"])
  }

  @Test func `a restart is reported`() {
    var begun = state(45 * Self.mib)
    begun.kept = 45 * Self.mib
    let told = lines([begun, state(0), state(10 * Self.mib), state(3 * Self.mib)])
    let expected = [
      "f: resumes at 45.0 MiB of 100.0 MiB", "f: starts over, 100.0 MiB", "f: 10 %, 10.0 MiB of 100.0 MiB",
      "f: starts over at 3.0 MiB of 100.0 MiB",
    ]
    #expect(told == expected)
  }

  @Test func `an unknown total reports each doubling`() {
    var states = (0...20).map { state(Int64($0) * Self.mib / 2, of: nil) }
    states.append(state(.max, of: nil))
    states.append(state(.max, of: nil))
    let told = lines(states)
    #expect(
      told == [
        "f: starts", "f: 1.0 MiB", "f: 2.0 MiB", "f: 4.0 MiB", "f: 8.0 MiB", "f: 8796093022207.9 MiB",
        "f: 8796093022207.9 MiB",
      ])
  }

  @Test(arguments: [
    (ProgressState.Phase.done, ["f: done, 5 bytes"]), (.failed("no\nroom"), ["f: no␊room"]),
    (.stopped("kept"), ["f: kept"]), (.waiting, []),
  ])
  func `the end is reported once`(phase: ProgressState.Phase, expected: [String]) {
    let end = state(phase == .done ? 5 : 0, of: 5, phase)
    #expect(lines([end, end, state(1, of: 5)].dropLast(phase == .waiting ? 1 : 0)) == expected)
  }

  @Test func `rates are reported if known`() {
    var state = state(10 * Self.mib)
    let begun = self.state(0)
    state.rate = 2_097_152
    #expect(lines([begun, state]).last == "f: 10 %, 10.0 MiB of 100.0 MiB, 2.0 MiB/s")
  }
}
