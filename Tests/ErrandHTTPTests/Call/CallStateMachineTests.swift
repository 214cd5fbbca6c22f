@testable import ErrandHTTP
import ErrandTesting
import TestSupport
import Testing

/// The phase table of `CallState`, row by row, and the waits of the machine.
struct CallStateMachineTests {
  enum Phase: CaseIterable {
    case running, cancelled, expired, settled, cancelledAfterSettling, claimed, claimedCancelled
  }
  enum Event: CaseIterable { case cancel, expire, settle, claim }

  /// The observable state of a machine after an event.
  struct Seen: Equatable {
    var changed: Bool?
    var reason: CallState.StopReason?
    var isRunning: Bool
    var isClaimed: Bool

    static func after(
      _ changed: Bool?, _ reason: CallState.StopReason? = nil, running: Bool = false, claimed: Bool = false
    ) -> Seen {
      Seen(changed: changed, reason: reason, isRunning: running, isClaimed: claimed)
    }
  }

  static func machine(in phase: Phase) -> CallStateMachine {
    var machine = CallStateMachine(hasDeadline: false)
    switch phase {
    case .running: break
    case .cancelled: _ = machine.stop(.cancelled)
    case .expired: _ = machine.stop(.expired)
    case .settled: _ = machine.settle()
    case .cancelledAfterSettling:
      _ = machine.settle()
      _ = machine.stop(.cancelled)
    case .claimed:
      _ = machine.settle()
      _ = machine.claim()
    case .claimedCancelled:
      _ = machine.stop(.cancelled)
      _ = machine.claim()
    }
    return machine
  }

  static let table: [(Phase, Event, Seen)] = [
    (.running, .cancel, .after(true, .cancelled)),
    (.running, .expire, .after(true, .expired)),
    (.running, .settle, .after(nil)),
    (.cancelled, .cancel, .after(false, .cancelled)),
    (.cancelled, .expire, .after(false, .cancelled)),
    (.cancelled, .settle, .after(nil, .cancelled)),
    (.cancelled, .claim, .after(nil, .cancelled, claimed: true)),
    (.expired, .cancel, .after(false, .expired)),
    (.expired, .expire, .after(false, .expired)),
    (.expired, .settle, .after(nil, .expired)),
    (.expired, .claim, .after(nil, .expired, claimed: true)),
    (.settled, .cancel, .after(true, .cancelled)),
    (.settled, .expire, .after(false)),
    (.settled, .claim, .after(nil, claimed: true)),
    (.cancelledAfterSettling, .cancel, .after(false, .cancelled)),
    (.cancelledAfterSettling, .expire, .after(false, .cancelled)),
    (.cancelledAfterSettling, .claim, .after(nil, .cancelled, claimed: true)),
    (.claimed, .cancel, .after(false, claimed: true)),
    (.claimed, .expire, .after(false, claimed: true)),
    (.claimedCancelled, .cancel, .after(false, .cancelled, claimed: true)),
    (.claimedCancelled, .expire, .after(false, .cancelled, claimed: true)),
  ]

  @Test func `cancel by the delivering thread counts`() {
    var machine = CallStateMachine(hasDeadline: false)
    _ = machine.settle()
    #expect(machine.claim(on: 7) == nil)
    #expect(
      !machine.stop(.cancelled, on: 8).changed && machine.stopReason == nil, "a cancel by another thread is too late")
    #expect(!machine.stop(.expired, on: 7).changed, "the deadline ends with the work")
    #expect(machine.stop(.cancelled, on: 7).changed)
    #expect(machine.conclude() == .cancelled)
    var other = CallStateMachine(hasDeadline: false)
    _ = other.settle()
    #expect(other.claim(on: 7) == nil && other.conclude() == nil)
    #expect(!other.stop(.cancelled, on: 7).changed && other.stopReason == nil, "the final callbacks run")
  }

  @Test(arguments: table) func `each event follows the phase table`(phase: Phase, event: Event, expected: Seen) {
    let machine = Held(Self.machine(in: phase))
    var changed: Bool?
    switch event {
    case .cancel: changed = machine.on { $0.stop(.cancelled) }.changed
    case .expire: changed = machine.on { $0.stop(.expired) }.changed
    case .settle: _ = machine.on { $0.settle() }
    case .claim: #expect(machine.on { $0.claim() } == expected.reason)
    }
    let seen = Seen(
      changed: changed, reason: machine.value.stopReason,
      isRunning: machine.value.isRunning, isClaimed: machine.value.isClaimed)
    #expect(seen == expected)
  }

  /// A second claim is a bug in the library, not in the code of its user.
  @Test func `second claim traps`() async {
    await #expect(processExitsWith: .failure) {
      let machine = Held(CallStateMachine(hasDeadline: false))
      _ = machine.on { $0.claim() }
      _ = machine.on { $0.claim() }
    }
  }

  @Test(arguments: Phase.allCases) func `wait opens only before a stop`(phase: Phase) {
    let machine = Held(Self.machine(in: phase))
    let id = machine.on { $0.open(.init(continuation: nil)) }
    #expect((id == nil) == (machine.value.stopReason != nil))
    if let id { machine.on { $0.close(id) } }
    #expect(machine.value.openWaits == 0)
  }

  @Test func `handler runs once in either order`() {
    let machine = Held(CallStateMachine(hasDeadline: false))
    let id = machine.on { $0.open(.init(continuation: nil, onStop: { _ in })) }
    #expect(machine.on { $0.stop(.expired) }.stopHandlers.isEmpty, "the registration has not finished")
    #expect(id.flatMap { id in machine.on { $0.arm(id) } } == .expired)
    #expect(id.flatMap { id in machine.on { $0.arm(id) } } == nil)
  }

  @Test func `stop calls an armed handler`() {
    let machine = Held(CallStateMachine(hasDeadline: false))
    let id = machine.on { $0.open(.init(continuation: nil, onStop: { _ in })) }
    #expect(id.flatMap { id in machine.on { $0.arm(id) } } == nil)
    #expect(machine.on { $0.stop(.cancelled) }.stopHandlers.count == 1)
    #expect(machine.on { $0.stop(.cancelled) }.stopHandlers.isEmpty)
  }

  @Test func `stop calls every open handler`() {
    let machine = Held(CallStateMachine(hasDeadline: false))
    var ids = (0..<5).map { _ in machine.on { $0.openStopHandler { _ in } }.0 }
    machine.on { $0.close(ids.remove(at: 2)) }
    machine.on { $0.close(ids.remove(at: 0)) }
    #expect(machine.value.openWaits == 3)
    #expect(machine.on { $0.stop(.cancelled) }.stopHandlers.count == 3)
    for id in ids { machine.on { $0.close(id) } }
    #expect(machine.value.openWaits == 0)
  }

  @Test func `timer is set only once`() {
    let machine = Held(CallStateMachine(hasDeadline: true))
    #expect(machine.on { $0.takeTimerDuty() })
    #expect(!machine.on { $0.takeTimerDuty() })
    #expect(machine.on { $0.keepTimer(TimerToken(number: 7)) })
    #expect(machine.on { $0.settle() }.timer == TimerToken(number: 7))
    #expect(machine.on { $0.settle() }.timer == nil)
    #expect(!machine.on { $0.takeTimerDuty() })
  }

  @Test(arguments: [Event.cancel, .expire, .settle])
  func `late timer is not kept`(event: Event) {
    let machine = Held(CallStateMachine(hasDeadline: true))
    #expect(machine.on { $0.takeTimerDuty() })
    switch event {
    case .cancel: _ = machine.on { $0.stop(.cancelled) }
    case .expire: _ = machine.on { $0.stop(.expired) }
    case .settle, .claim: _ = machine.on { $0.settle() }
    }
    #expect(!machine.on { $0.keepTimer(TimerToken(number: 7)) })
  }

  @Test func `call without deadline needs no timer`() {
    let machine = Held(CallStateMachine(hasDeadline: false))
    #expect(!machine.on { $0.takeTimerDuty() })
  }
}
