import Errand
@testable import ErrandCore
import ErrandTesting
import Foundation
import Testing
import TestSupport

/// Those who share an exchange while their executor has no time for them.
@Suite(.timeLimit(.minutes(1))) struct JoinBusyTests {
  /// The call's own code can go on only when its executor is free.
  @Test func `seat is left while its executor is busy`() async {
    let fixture = JoinFixture()
    let (owner, executor) = (CallOwner(), HeldExecutor())
    let first = Task(executorPreference: executor) {
      await fixture.client.outcome(of: JoinText(), options: CallOptions(owner: owner))
    }
    #expect(await fixture.waiting(1))
    await fixture.exchange.reached()
    executor.hold()
    owner.cancelAll()
    #expect(fixture.flights == (0, 0))
    let second = Task { await fixture.client.outcome(of: JoinText()) }
    await fixture.exchange.reached(2)
    executor.release()
    #expect(await first.value.told == "cancelled")
    fixture.exchange.open()
    #expect(await second.value.value == "value")
    #expect(fixture.asked == 2, "what the first one asked is nobody else's")
    #expect(await fixture.isIdle())
  }
}
