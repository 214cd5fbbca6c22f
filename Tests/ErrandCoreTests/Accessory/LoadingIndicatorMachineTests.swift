@testable import ErrandCore
import TestSupport
import Testing

/// The state machine that decides when the indicator shows and hides.
struct LoadingIndicatorMachineTests {
  typealias Machine = LoadingIndicatorMachine

  private static func at(_ milliseconds: Int) -> MonotonicInstant {
    MonotonicInstant(nanoseconds: 1_000_000_000).advanced(by: .milliseconds(milliseconds))
  }

  private let machine = Held(Machine(delay: .milliseconds(300), minimum: .milliseconds(500)))

  private func started(_ time: Int) { machine.on { $0.started(at: Self.at(time)) } }
  private func stopped(_ time: Int) { machine.on { $0.stopped(at: Self.at(time)) } }
  private func looked(_ time: Int) { machine.on { $0.look(at: Self.at(time)) } }
  private func appeared(_ time: Int) { machine.on { $0.appeared(at: Self.at(time)) } }
  private func expect(shown: Bool, next: Int?, _ location: SourceLocation = #_sourceLocation) {
    #expect(machine.value.isShown == shown, sourceLocation: location)
    #expect(machine.value.next == next.map(Self.at), sourceLocation: location)
  }

  @Test func `short call shows no indicator`() {
    started(0)
    expect(shown: false, next: 300)
    stopped(299)
    expect(shown: false, next: nil)
    looked(300)
    expect(shown: false, next: nil)
  }

  @Test func `long call shows indicator after delay`() {
    started(0)
    looked(299)
    expect(shown: false, next: 300)
    looked(300)
    expect(shown: true, next: nil)
    stopped(900)
    expect(shown: false, next: nil)
  }

  @Test func `indicator shows for minimum time`() {
    started(0)
    looked(300)
    stopped(301)
    expect(shown: true, next: 800)
    looked(799)
    expect(shown: true, next: 800)
    looked(800)
    expect(shown: false, next: nil)
  }

  @Test func `minimum time begins at appearance`() {
    started(0)
    appeared(10)
    expect(shown: false, next: 300)
    looked(300)
    appeared(700)
    stopped(701)
    expect(shown: true, next: 1_200)
    looked(1_199)
    expect(shown: true, next: 1_200)
    looked(1_200)
    appeared(1_300)
    expect(shown: false, next: nil)
  }

  @Test func `overlapping calls show one indicator`() {
    started(0)
    started(200)
    stopped(250)
    expect(shown: false, next: 300)
    looked(300)
    started(310)
    stopped(320)
    expect(shown: true, next: nil)
    stopped(330)
    expect(shown: true, next: 800)
    started(700)
    expect(shown: true, next: nil)
    looked(800)
    expect(shown: true, next: nil)
    stopped(1_000)
    expect(shown: false, next: nil)
  }

  @Test func `delay starts again after idle`() {
    started(0)
    stopped(100)
    started(200)
    expect(shown: false, next: 500)
  }

  @Test func `late timer event applies due change`() {
    started(0)
    stopped(400)
    expect(shown: false, next: nil)
    started(1_000)
    started(2_000)
    expect(shown: true, next: nil)
  }

  @Test func `zero delay shows indicator immediately`() {
    let machine = Held(Machine(delay: .zero, minimum: .zero))
    machine.on { $0.started(at: Self.at(0)) }
    #expect(machine.value.isShown)
    machine.on { $0.stopped(at: Self.at(0)) }
    #expect(!machine.value.isShown)
  }

  @Test func `unmatched stop is ignored`() {
    stopped(0)
    started(10)
    expect(shown: false, next: 310)
  }
}
