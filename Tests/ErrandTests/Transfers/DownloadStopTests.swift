import Errand
import ErrandTesting
import Foundation
import TestSupport
import Testing

/// Downloads that are stopped in the middle.
struct DownloadStopTests {
  @Test(arguments: 0..<10) func `cancel keeps the part file`(round: Int) async throws {
    let gate = Gate()
    let fixture = try DownloadFixture { number, behaviour in
      if number == 1 { behaviour.fault = .stall(after: 2_000_000, until: gate) }
    }
    try fixture.putOld()
    let task = Task { await fixture.send() }
    try await gate.reached()
    task.cancel()
    #expect(await task.value.error?.code == .cancelled)
    #expect(fixture.isOld)
    // The file is closed when the call ends, so the next call does not fail as busy.
    let file = try await fixture.send().result.get()
    #expect(fixture.isRight() && fixture.ranges.count == 2)
    #expect(fixture.ranges.last == (file.keptBytes > 0 ? "bytes=\(file.keptBytes)-" : nil))
  }

  @Test(arguments: [true, false]) func `time-outs keep the part file`(isDeadline: Bool) async throws {
    let gate = Gate()
    let clock = ManualClock()
    let fixture = try DownloadFixture(configuration: DownloadFixture.configuration(clock)) { number, behaviour in
      if number == 1 { behaviour.fault = .stall(after: 2_000_000, until: gate) }
    }
    let timeouts = isDeadline ? Timeouts(total: .milliseconds(500)) : Timeouts(idle: .seconds(4))
    async let outcome = fixture.send(options: CallOptions(timeouts: timeouts)) { $0.takeUps = 0 }
    try await gate.reached()
    if isDeadline {
      #expect(await eventually { fixture.partBytes > 0 })
      clock.advance(by: .milliseconds(500))
      #expect(await outcome.error?.code == .deadline)
    } else {
      #expect(await outcome.error?.transportKind == .idleTimeout)
    }
    #expect(fixture.names == ["film.bin.part", "film.bin.part.meta"])
    let file = try await fixture.send().result.get()
    #expect(fixture.isRight() && file.keptBytes > 0)
  }

  @Test func `idle time-out is resumed`() async throws {
    let gate = Gate()
    let fixture = try DownloadFixture { number, behaviour in
      if number == 1 { behaviour.fault = .stall(after: 2_000_000, until: gate) }
    }
    let file = try await fixture.send(options: CallOptions(timeouts: Timeouts(idle: .seconds(4)))).result.get()
    #expect(fixture.isRight() && fixture.ranges == [nil, "bytes=2000000-"])
    #expect(file.fetchedBytes == 3_000_000)
  }

  @Test(arguments: 0..<20) func `cancel is safe at any moment`(round: Int) async throws {
    let fixture = try DownloadFixture()
    try fixture.putOld()
    let task = Task { await fixture.send() }
    try await fixture.server.served(atLeast: round * 150_000)
    task.cancel()
    let outcome = await task.value
    #expect(outcome.error == nil ? fixture.isRight() : fixture.isOld || fixture.isRight())
    _ = try await fixture.send().result.get()
    #expect(fixture.isRight() && fixture.names == ["film.bin"])
  }
}
