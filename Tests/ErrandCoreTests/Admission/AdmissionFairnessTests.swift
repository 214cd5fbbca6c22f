@testable import ErrandCore
import Testing

/// Owners of equal priority take turns.
struct AdmissionFairnessTests {
  static let red = HTTPURL.Origin.test("http://red.example")
  static let blue = HTTPURL.Origin.test("http://blue.example")

  private func bench(perHost: Int = 1, total: Int = 100, running: [HTTPURL.Origin] = [red]) -> Bench {
    let bench = Bench(AdmissionLimits(perHost: perHost, total: total))
    for origin in running { bench.run(origin) }
    return bench
  }

  @Test func `owners of equal priority take turns`() {
    let bench = bench()
    for number in 1...3 { bench.wait(Self.red, number, owner: 1) }
    for number in 4...5 { bench.wait(Self.red, number, owner: 2) }
    bench.wait(Self.red, 6, owner: 3)
    #expect(bench.drain() == [1, 4, 6, 2, 5, 3])
  }

  @Test func `calls without owner share one turn`() {
    let bench = bench()
    for number in 1...3 { bench.wait(Self.red, number) }
    bench.wait(Self.red, 4, owner: 7)
    #expect(bench.drain() == [1, 4, 2, 3])
  }

  @Test func `flood from one owner does not delay others`() {
    let bench = bench()
    for number in 1...1_000 { bench.wait(Self.red, number, owner: 1) }
    #expect(bench.release(Self.red) == 1)
    bench.wait(Self.red, 1_001, owner: 2)
    #expect(bench.release(Self.red) == 2)
    #expect(bench.release(Self.red) == 1_001)
  }

  @Test func `new owners do not delay an old one`() {
    let bench = bench()
    bench.wait(Self.red, 0, owner: 1)
    bench.wait(Self.red, 1, owner: 1)
    var order: [Int] = []
    for number in 2...40 {
      bench.wait(Self.red, number, owner: UInt64(number))
      if let waiter = bench.release(Self.red) { order.append(waiter) }
    }
    #expect(order.firstIndex(of: 1) == 2, "its second turn precedes owners that arrived after its first turn")
  }

  @Test func `priority comes before fair turns`() {
    let bench = bench()
    bench.wait(Self.red, 1, .normal, owner: 1)
    for number in 2...4 { bench.wait(Self.red, number, .high, owner: 2) }
    #expect(bench.drain() == [2, 3, 4, 1])
  }

  @Test func `owner turns span all hosts`() {
    let bench = bench(perHost: 50, total: 1)
    for number in 1...3 { bench.wait(Self.red, number, owner: 1) }
    for number in 4...6 { bench.wait(Self.blue, number, owner: 1) }
    for number in 7...8 { bench.wait(Self.blue, number, owner: 2) }
    #expect(bench.drain() == [1, 7, 2, 8, 3, 4, 5, 6], "sending to several hosts gives an owner no extra turns")
  }

  @Test func `owner is not blocked by another host`() {
    let bench = bench(perHost: 50, total: 1)
    for number in 1...5 { bench.wait(Self.red, number, owner: 1) }
    bench.wait(Self.blue, 6, owner: 1)
    bench.wait(Self.blue, 7, owner: 2)
    #expect(bench.drain() == [1, 7, 2, 3, 4, 5, 6])
  }

  /// One owner is served at a host all the time, while another owner floods a second host.
  @Test func `owner busy elsewhere keeps its turn`() {
    let bench = bench(running: [Self.red, Self.blue])
    var number = 0
    func next() -> Int {
      number += 1
      return number
    }
    for _ in 0..<20 { bench.wait(Self.blue, next(), owner: 2) }
    bench.wait(Self.blue, 1_000, owner: 1)
    var order: [Int] = []
    for _ in 0..<10 {
      bench.wait(Self.red, next(), owner: 1)
      #expect(bench.release(Self.red) != nil)
      if let waiter = bench.release(Self.blue) { order.append(waiter) }
      bench.wait(Self.blue, next(), owner: 2)
    }
    #expect(order.firstIndex(of: 1_000) == 1)
  }

  @Test func `aged calls take turns with high priority`() {
    let bench = bench()
    for number in 1...3 { bench.wait(Self.red, number, owner: 1) }
    #expect(bench.release(Self.red) == 1)
    bench.now = .after(.seconds(6))
    bench.wait(Self.red, 4, .high, owner: 2)
    #expect(bench.drain() == [2, 4, 3])
  }

  @Test func `leaving waiter does not skip another's turn`() {
    let bench = bench()
    for number in 1...3 { bench.wait(Self.red, number, owner: 1) }
    for number in 4...6 { bench.wait(Self.red, number, owner: 2) }
    bench.leave(1)
    bench.leave(5)
    #expect(bench.drain() == [2, 4, 3, 6])
    #expect(bench.waiting == 0)
  }
}
