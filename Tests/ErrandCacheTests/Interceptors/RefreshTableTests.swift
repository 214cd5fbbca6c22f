import ErrandCore
import ErrandHTTP
import ErrandTesting
import StoreSamples
import TestSupport
import Testing

@testable import ErrandCache

/// The memory of failed refreshes in the background.
struct RefreshTableTests {
  @Test(
    arguments: [
      (1, nil, 1), (2, nil, 2), (3, nil, 4), (9, nil, 256), (10, nil, 300), (64, nil, 300), (0, nil, 1), (1, 0, 1),
      (1, 120, 120), (10, 120, 300), (10, 900, 900),
    ] as [(Int, Int?, Int)])
  func `pauses double up to five minutes`(_ failures: Int, _ retryAfter: Int?, _ pause: Int) {
    #expect(RefreshTable.pause(after: failures, retryAfter: retryAfter.map { .seconds($0) }) == .seconds(pause))
  }

  @Test func `failures belong to one stored response`() {
    let (table, clock) = (RefreshTable(), ManualClock())
    let (old, new) = (Sample.head(time: 1), Sample.head(time: 2))
    let place = RefreshTable.Place(key: Sample.key("/"), variant: Sample.digest("v"))
    table.fail(place, stored: old.responseTime, retryAfter: nil, now: clock.now)
    #expect(!table.begin(place, old, CallState(timers: clock)))
    #expect(table.begin(place, new, CallState(timers: clock)))
  }

  @Test func `closed table begins no refresh`() async {
    let (table, clock, head) = (RefreshTable(), ManualClock(), Sample.head(time: 1))
    let places = ["/a", "/b"].map { RefreshTable.Place(key: Sample.key($0), variant: Sample.digest("v")) }
    let state = CallState(timers: clock)
    #expect(table.begin(places[0], head, state))
    let closing = Task { await table.close() }
    #expect(await eventually { state.isStopped })
    #expect(!table.begin(places[1], head, CallState(timers: clock)))
    table.end(places[0], state)
    await closing.value
    #expect(table.isEmpty && !table.begin(places[1], head, CallState(timers: clock)))
  }

  @Test func `remembered failures are limited`() {
    let table = RefreshTable()
    let clock = ManualClock()
    let head = Sample.head(time: 1)
    let places = (0..<2_000).map { RefreshTable.Place(key: Sample.key("/\($0)"), variant: Sample.digest("v")) }
    for place in places { table.fail(place, stored: head.responseTime, retryAfter: nil, now: clock.now) }
    let waiting = places.count { !table.begin($0, head, CallState(timers: clock)) }
    #expect(waiting == 1_024)
  }
}
