@testable import ErrandCore
import Testing

/// Priority that grows with the wait, and that changes during it.
@Suite struct AdmissionAgeingTests {
  static let red = HTTPURL.Origin.test("http://red.example")

  private func bench(ageing: Duration? = .seconds(5)) -> Bench {
    let bench = Bench(AdmissionLimits(perHost: 1, ageing: ageing))
    bench.run(Self.red)
    return bench
  }

  @Test func `ageing below a nanosecond is one`() {
    let bench = bench(ageing: .microseconds(0.0001))
    bench.wait(Self.red, 1, .low)
    bench.now = .after(.milliseconds(1))
    bench.wait(Self.red, 2, .high)
    #expect(bench.drain() == [1, 2])
  }

  /// Who goes first: one of low or normal priority who came `ahead` before one of higher priority.
  @Test(
    arguments: [
      (CallPriority.low, CallPriority.normal, 4_999, false), (.low, .normal, 5_000, true),
      (.low, .high, 9_999, false), (.low, .high, 10_000, true), (.normal, .high, 4_999, false),
      (.normal, .high, 5_000, true), (.low, .high, 3_600_000, true),
    ])
  func `a step is gained each five seconds`(
    early: CallPriority, late: CallPriority, ahead: Int, isFirst: Bool
  ) {
    let bench = bench()
    bench.wait(Self.red, 1, early)
    bench.now = .after(.milliseconds(ahead))
    bench.wait(Self.red, 2, late)
    #expect(bench.drain() == (isFirst ? [1, 2] : [2, 1]))
  }

  @Test func `nobody starves behind urgent calls`() {
    let bench = bench()
    bench.wait(Self.red, 0, .low)
    var order: [Int] = []
    for number in 1...200 {
      bench.wait(Self.red, number, .high)
      bench.now = .after(.milliseconds(100 * number))
      if let waiter = bench.release(Self.red) { order.append(waiter) }
    }
    #expect(order.firstIndex(of: 0) == 99, "ten seconds make it as urgent as they are, and it came first")
  }

  @Test(arguments: [nil, Duration.zero, .seconds(-1)]) func `without ageing it starves`(ageing: Duration?) {
    let bench = bench(ageing: ageing)
    bench.wait(Self.red, 0, .low)
    for number in 1...200 {
      bench.wait(Self.red, number, .normal)
      bench.now = .after(.seconds(number * 60))
      #expect(bench.release(Self.red) == number)
    }
  }

  @Test func `age ends at the highest priority`() {
    let bench = bench()
    bench.wait(Self.red, 1, .normal, owner: 1)
    bench.wait(Self.red, 2, .normal, owner: 1)
    bench.now = .after(.seconds(1_000))
    bench.wait(Self.red, 3, .high, owner: 2)
    #expect(bench.drain() == [1, 3, 2], "one who has waited long takes turns with the most urgent")
  }

  @Test func `turned back clock ages nobody`() {
    let bench = bench()
    bench.now = .after(.seconds(100))
    bench.wait(Self.red, 1, .low)
    bench.now = .start
    bench.wait(Self.red, 2, .normal)
    #expect(bench.drain() == [2, 1])
  }

  @Test func `more than fit in a step age in turn`() {
    let bench = bench()
    let count = 3 * WaitingLine<Int>.agedAtOnce
    for number in 1...count { bench.wait(Self.red, number, .low) }
    bench.now = .after(.seconds(3_600))
    for number in count + 1...count + 10 { bench.wait(Self.red, number, .high) }
    let order = bench.drain()
    #expect(order.filter { $0 <= count } == Array(1...count))
    #expect(order.last == count + 10, "who came last goes last")
  }

  // MARK: - Changes

  @Test func `raised waiter goes first`() {
    let bench = bench()
    for number in 1...3 { bench.wait(Self.red, number, .low) }
    bench.change(3, to: .high)
    #expect(bench.drain() == [3, 1, 2])
  }

  @Test func `lowered waiter goes last`() {
    let bench = bench()
    for number in 1...3 { bench.wait(Self.red, number, .normal) }
    bench.change(1, to: .low)
    #expect(bench.drain() == [2, 3, 1])
  }

  @Test func `change keeps the place by arrival`() {
    let bench = bench()
    bench.wait(Self.red, 1, .low)
    bench.wait(Self.red, 2, .high)
    bench.change(1, to: .high)
    #expect(bench.drain() == [1, 2])
  }

  @Test func `change keeps what was waited`() {
    let bench = bench()
    bench.wait(Self.red, 1, .normal)
    bench.now = .after(.seconds(6))
    bench.wait(Self.red, 2, .normal)
    bench.change(1, to: .low)
    #expect(bench.drain() == [1, 2], "six seconds lift it to normal again, and it came first")
  }

  @Test func `change after the turn has no effect`() {
    let bench = bench()
    bench.wait(Self.red, 1)
    bench.wait(Self.red, 2)
    #expect(bench.release(Self.red) == 1)
    bench.change(1, to: .high)
    #expect(bench.waiting == 1)
    #expect(bench.release(Self.red) == 2)
  }

  @Test func `place of another is never changed`() {
    let bench = bench()
    bench.wait(Self.red, 1)
    #expect(bench.release(Self.red) == 1)
    bench.wait(Self.red, 2, .low)
    bench.wait(Self.red, 3)
    bench.change(1, to: .high)
    #expect(bench.drain() == [3, 2], "the place of the first was given to another meanwhile")
  }

  @Test func `other ageing counts for those who wait`() {
    let bench = bench(ageing: nil)
    bench.wait(Self.red, 1, .low)
    bench.now = .after(.seconds(20))
    bench.wait(Self.red, 2, .high)
    bench.change(AdmissionLimits(perHost: 1, ageing: .seconds(10)))
    #expect(bench.drain() == [1, 2])
  }
}
