@testable import ErrandCore
import Testing

/// The effective priority of a waiting call, which rises with its wait and which the caller can change.
struct AdmissionAgeingTests {
  static let red = HTTPURL.Origin.test("http://red.example")

  private func bench(ageing: Duration? = .seconds(5)) -> Bench {
    let bench = Bench(AdmissionLimits(perHost: 1, ageing: ageing))
    bench.run(Self.red)
    return bench
  }

  @Test func `ageing interval is at least one nanosecond`() {
    let bench = bench(ageing: .microseconds(0.0001))
    bench.wait(Self.red, 1, .low)
    bench.now = .after(.milliseconds(1))
    bench.wait(Self.red, 2, .high)
    #expect(bench.drain() == [1, 2])
  }

  /// One row: a waiter of low or normal priority arrives `ahead` milliseconds before one of higher priority; `isFirst`
  /// says whether it is admitted first.
  @Test(
    arguments: [
      (CallPriority.low, CallPriority.normal, 4_999, false), (.low, .normal, 5_000, true),
      (.low, .high, 9_999, false), (.low, .high, 10_000, true), (.normal, .high, 4_999, false),
      (.normal, .high, 5_000, true), (.low, .high, 3_600_000, true),
    ])
  func `priority rises every five seconds`(
    early: CallPriority, late: CallPriority, ahead: Int, isFirst: Bool
  ) {
    let bench = bench()
    bench.wait(Self.red, 1, early)
    bench.now = .after(.milliseconds(ahead))
    bench.wait(Self.red, 2, late)
    #expect(bench.drain() == (isFirst ? [1, 2] : [2, 1]))
  }

  @Test func `low priority does not starve`() {
    let bench = bench()
    bench.wait(Self.red, 0, .low)
    var order: [Int] = []
    for number in 1...200 {
      bench.wait(Self.red, number, .high)
      bench.now = .after(.milliseconds(100 * number))
      if let waiter = bench.release(Self.red) { order.append(waiter) }
    }
    #expect(order.firstIndex(of: 0) == 99, "after ten seconds it has their priority, and it arrived first")
  }

  @Test(arguments: [nil, Duration.zero, .seconds(-1)]) func `without ageing low priority starves`(ageing: Duration?) {
    let bench = bench(ageing: ageing)
    bench.wait(Self.red, 0, .low)
    for number in 1...200 {
      bench.wait(Self.red, number, .normal)
      bench.now = .after(.seconds(number * 60))
      #expect(bench.release(Self.red) == number)
    }
  }

  @Test func `ageing stops at highest priority`() {
    let bench = bench()
    bench.wait(Self.red, 1, .normal, owner: 1)
    bench.wait(Self.red, 2, .normal, owner: 1)
    bench.now = .after(.seconds(1_000))
    bench.wait(Self.red, 3, .high, owner: 2)
    #expect(bench.drain() == [1, 3, 2], "an aged waiter takes turns with waiters of high priority")
  }

  @Test func `clock going backwards ages no waiter`() {
    let bench = bench()
    bench.now = .after(.seconds(100))
    bench.wait(Self.red, 1, .low)
    bench.now = .start
    bench.wait(Self.red, 2, .normal)
    #expect(bench.drain() == [2, 1])
  }

  @Test func `many aged waiters keep their order`() {
    let bench = bench()
    let count = 3 * WaitingQueue<Int>.agedAtOnce
    for number in 1...count { bench.wait(Self.red, number, .low) }
    bench.now = .after(.seconds(3_600))
    for number in count + 1...count + 10 { bench.wait(Self.red, number, .high) }
    let order = bench.drain()
    #expect(order.filter { $0 <= count } == Array(1...count))
    #expect(order.last == count + 10, "the last arrival is admitted last")
  }

  // MARK: - Changes

  @Test func `raised priority admits waiter first`() {
    let bench = bench()
    for number in 1...3 { bench.wait(Self.red, number, .low) }
    bench.change(3, to: .high)
    #expect(bench.drain() == [3, 1, 2])
  }

  @Test func `lowered priority admits waiter last`() {
    let bench = bench()
    for number in 1...3 { bench.wait(Self.red, number, .normal) }
    bench.change(1, to: .low)
    #expect(bench.drain() == [2, 3, 1])
  }

  @Test func `priority change keeps arrival order`() {
    let bench = bench()
    bench.wait(Self.red, 1, .low)
    bench.wait(Self.red, 2, .high)
    bench.change(1, to: .high)
    #expect(bench.drain() == [1, 2])
  }

  @Test func `priority change keeps time already waited`() {
    let bench = bench()
    bench.wait(Self.red, 1, .normal)
    bench.now = .after(.seconds(6))
    bench.wait(Self.red, 2, .normal)
    bench.change(1, to: .low)
    #expect(bench.drain() == [1, 2], "six seconds raise it to normal again, and it arrived first")
  }

  @Test func `priority change after admission is ignored`() {
    let bench = bench()
    bench.wait(Self.red, 1)
    bench.wait(Self.red, 2)
    #expect(bench.release(Self.red) == 1)
    bench.change(1, to: .high)
    #expect(bench.waiting == 1)
    #expect(bench.release(Self.red) == 2)
  }

  @Test func `stale ticket does not change another waiter`() {
    let bench = bench()
    bench.wait(Self.red, 1)
    #expect(bench.release(Self.red) == 1)
    bench.wait(Self.red, 2, .low)
    bench.wait(Self.red, 3)
    bench.change(1, to: .high)
    #expect(bench.drain() == [3, 2], "another waiter reused the slot of the first one")
  }

  @Test func `new ageing rule applies to waiting calls`() {
    let bench = bench(ageing: nil)
    bench.wait(Self.red, 1, .low)
    bench.now = .after(.seconds(20))
    bench.wait(Self.red, 2, .high)
    bench.change(AdmissionLimits(perHost: 1, ageing: .seconds(10)))
    #expect(bench.drain() == [1, 2])
  }
}
