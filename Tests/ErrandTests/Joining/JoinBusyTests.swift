import Errand
@testable import ErrandCore
import ErrandTesting
import Foundation
import Testing
import TestSupport

/// Calls that share an exchange while their executor is busy.
struct JoinBusyTests {
  /// The code of the call can continue only when its executor is free.
  @Test func `cancelled call leaves with busy executor`() async {
    let fixture = JoinFixture()
    let (owner, executor) = (CallOwner(), HeldExecutor())
    let first = Task(executorPreference: executor) {
      await fixture.client.outcome(of: JoinText(), options: CallOptions(owner: owner))
    }
    #expect(await fixture.waiting(1))
    await fixture.exchange.reached()
    // The executor runs one job after another, so the call now waits for its exchange.
    await Task(executorPreference: executor) {}.value
    executor.hold()
    owner.cancelAll()
    #expect(fixture.exchanges == (0, 0))
    let second = Task { await fixture.client.outcome(of: JoinText()) }
    await fixture.exchange.reached(2)
    executor.release()
    #expect(await first.value.told == "cancelled")
    fixture.exchange.open()
    #expect(await second.value.value == "value")
    #expect(fixture.asked == 2, "the second call does not get the exchange of the first")
    #expect(await fixture.isIdle())
  }
}
