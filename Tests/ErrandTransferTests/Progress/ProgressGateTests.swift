import ErrandCore
import Testing

@testable import ErrandTransfer

@Suite struct ProgressGateTests {
  /// The gate as an object, so that it may change inside of an expectation.
  private final class Gate {
    private var gate: ProgressGate

    init(bytes: Int64 = 0, total: Int64? = nil, start: MonotonicInstant) {
      gate = ProgressGate(bytes: bytes, total: total, start: start)
    }

    func advance(to bytes: Int64, total: Int64?, at now: MonotonicInstant) -> ProgressReading? {
      gate.advance(to: bytes, total: total, at: now)
    }

    func restart(at bytes: Int64, total: Int64?, at now: MonotonicInstant) -> ProgressReading? {
      gate.restart(at: bytes, total: total, at: now)
    }

    func finish(at bytes: Int64, total: Int64?, isWhole: Bool, at now: MonotonicInstant) -> ProgressReading? {
      gate.finish(at: bytes, total: total, isWhole: isWhole, at: now)
    }
  }

  private static func moment(_ milliseconds: Int64) -> MonotonicInstant { RateMeterTests.moment(milliseconds) }

  @Test func `at most one in 50 ms`() {
    let gate = Gate(start: Self.moment(0))
    let told = (0...1_000).filter { gate.advance(to: $0, total: nil, at: Self.moment($0)) != nil }
    #expect(told == Array(stride(from: 0, through: 1_000, by: 50)))
  }

  @Test func `last one comes whatever the time`() throws {
    let gate = Gate(total: 10, start: Self.moment(0))
    _ = gate.advance(to: 5, total: 10, at: Self.moment(0))
    let last = try #require(gate.finish(at: 10, total: 10, isWhole: true, at: Self.moment(1)))
    #expect(last.bytes == 10 && last.fraction == 1 && last.isFinished)
    #expect(gate.finish(at: 10, total: 10, isWhole: true, at: Self.moment(2)) == nil)
    #expect(gate.advance(to: 11, total: 11, at: Self.moment(1_000)) == nil)
    #expect(gate.restart(at: 0, total: nil, at: Self.moment(1_000)) == nil)
  }

  @Test func `whole only with its name`() throws {
    let gate = Gate(start: Self.moment(0))
    let full = try #require(gate.advance(to: 100, total: 100, at: Self.moment(0)))
    #expect(full.fraction == 0.99 && !full.isFinished)
    let stopped = try #require(gate.finish(at: 100, total: 100, isWhole: false, at: Self.moment(1)))
    #expect(stopped.fraction == 0.99 && !stopped.isFinished)
  }

  @Test func `never backwards`() throws {
    let gate = Gate(bytes: 50, total: 100, start: Self.moment(0))
    #expect(gate.advance(to: 40, total: nil, at: Self.moment(0))?.bytes == 50)
    #expect(gate.advance(to: 70, total: 100, at: Self.moment(100))?.bytes == 70)
    let back = try #require(gate.advance(to: 60, total: 100, at: Self.moment(200)))
    #expect(back.bytes == 70 && back.total == 100)
  }

  @Test func `restart is told at once`() throws {
    let gate = Gate(total: 100, start: Self.moment(0))
    _ = gate.advance(to: 90, total: 100, at: Self.moment(0))
    let restart = try #require(gate.restart(at: 0, total: nil, at: Self.moment(1)))
    #expect(restart.isRestart && restart.bytes == 0 && restart.total == nil && restart.fraction == nil)
    #expect(gate.advance(to: 1, total: 120, at: Self.moment(50)) == nil)
    let next = try #require(gate.advance(to: 2, total: 120, at: Self.moment(51)))
    #expect(next.bytes == 2 && next.total == 120 && !next.isRestart)
  }

  @Test func `bytes of earlier tries are not fast ones`() throws {
    let gate = Gate(bytes: 1 << 40, total: 1 << 41, start: Self.moment(0))
    let reading = try #require(gate.advance(to: (1 << 40) + 1_000, total: nil, at: Self.moment(1_000)))
    #expect(try abs(#require(reading.rate) - 1_000) < 1)
  }

  @Test func `unknown and empty totals have no fraction`() throws {
    let gate = Gate(start: Self.moment(0))
    #expect(try #require(gate.advance(to: 1, total: nil, at: Self.moment(0))).fraction == nil)
    #expect(try #require(gate.advance(to: 1, total: 0, at: Self.moment(50))).fraction == nil)
    #expect(gate.finish(at: 1, total: nil, isWhole: true, at: Self.moment(51))?.fraction == 1)
  }

  @Test func `time left follows the rate`() throws {
    let gate = Gate(total: 10_000, start: Self.moment(0))
    for step in stride(from: Int64(100), to: 5_000, by: 100) {
      _ = gate.advance(to: step, total: 10_000, at: Self.moment(step))
    }
    let reading = try #require(gate.advance(to: 5_000, total: 10_000, at: Self.moment(5_000)))
    #expect(abs(try #require(reading.timeLeft).clampedNanoseconds - 5_000_000_000) < 50_000_000)
  }
}
