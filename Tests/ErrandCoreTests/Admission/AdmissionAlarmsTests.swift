@testable import ErrandCore
import ErrandTesting
import TestSupport
import Testing

/// The timers of hosts without tokens: the timers that are set, replaced and cancelled.
struct AdmissionAlarmsTests {
  private let clock = ManualClock()

  @Test func `each host has one timer`() {
    let alarms = Held(AdmissionAlarms())
    let first = alarms.on { $0.update(1, .after(.seconds(5)), clock) }
    #expect(first?.sets?.moment == .after(.seconds(5)))
    #expect(first?.cancels == nil)
    for moment in [5, 6] { #expect(alarms.on { $0.update(1, .after(.seconds(moment)), clock) } == nil) }
    #expect(alarms.on { $0.update(2, .after(.seconds(6)), clock) }?.sets != nil)
  }

  @Test func `earlier moment replaces the timer`() throws {
    let alarms = Held(AdmissionAlarms())
    let late = try #require(alarms.on { $0.update(1, .after(.seconds(5)), clock) }?.sets)
    let token = clock.schedule(at: late.moment) {}
    #expect(alarms.on { $0.keep(token, late, for: 1) })
    let order = try #require(alarms.on { $0.update(1, .after(.seconds(3)), clock) })
    #expect(order.sets?.moment == .after(.seconds(3)))
    order.cancels?.cancel()
    #expect(clock.pending == 0)
    #expect(!alarms.on { $0.take(late, for: 1) }, "the replaced timer may still fire")
  }

  @Test func `timer is cancelled without waiters`() throws {
    let alarms = Held(AdmissionAlarms())
    let alarm = try #require(alarms.on { $0.update(1, .after(.seconds(5)), clock) }?.sets)
    let order = try #require(alarms.on { $0.update(1, nil, clock) })
    #expect(order.sets == nil)
    #expect(!alarms.on { $0.keep(clock.schedule(at: alarm.moment) {}, alarm, for: 1) }, "it was set too late")
    #expect(alarms.on { $0.update(1, nil, clock) } == nil)
  }

  @Test func `timer fires once`() throws {
    let alarms = Held(AdmissionAlarms())
    let alarm = try #require(alarms.on { $0.update(1, .after(.seconds(5)), clock) }?.sets)
    #expect(alarms.on { $0.take(alarm, for: 1) })
    #expect(!alarms.on { $0.take(alarm, for: 1) })
    #expect(alarms.on { $0.update(1, .after(.seconds(7)), clock) }?.sets != nil)
  }
}
