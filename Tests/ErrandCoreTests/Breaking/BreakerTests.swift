@testable import ErrandCore
import ErrandTesting
import Testing
import TestSupport

/// The circuit breaker as a state machine: the exchanges that it admits, and the moments at which it opens and closes.
struct BreakerTests {
  private typealias Round = UInt64

  private static func moment(_ seconds: Double) -> MonotonicInstant {
    MonotonicInstant(nanoseconds: Int64(seconds * 1_000_000_000))
  }

  private static func rule(
    share: Double = 0.5, window: Int = 10, least: Int = 4, trials: Int = 2
  ) -> BreakerRule {
    BreakerRule(share: share, window: window, least: least, pause: .seconds(60), trials: trials)
  }

  /// Sends one exchange per letter: `s` succeeds, `f` fails, `n` is neither.
  private func send(_ results: String, _ breaker: inout Breaker, at seconds: Double = 0) {
    for letter in results {
      guard case .admitted(let generation, _) = breaker.admit(at: Self.moment(seconds)) else { continue }
      breaker.end(
        letter == "s" ? .success : letter == "f" ? .failure : .nothing, of: generation, at: Self.moment(seconds))
    }
  }

  @Test(arguments: [
    ("", false), ("fff", false), ("ffff", true), ("sfff", true), ("ssff", true), ("sssf", false), ("ffss", false),
    ("ffssf", true), ("ssssfff", false),
    ("ssssffff", true), ("nnnnfff", false), ("fffnf", true), ("ssssssssssffff", false), ("ssssssssssfffff", true),
    ("fsssssssssss", false), ("fsssssssssssffff", false),
  ])
  func `opens by failure share and count`(_ results: String, _ isOpen: Bool) {
    var breaker = Breaker(Self.rule())
    send(results, &breaker)
    #expect((breaker.admit(at: Self.moment(0)) == .rejected(for: .seconds(60))) == isOpen)
  }

  @Test func `successful trials close zero-share rule`() {
    var breaker = Breaker(Self.rule(share: 0, least: 1))
    send("ss", &breaker)
    #expect(breaker.state == .closed, "without a failure the share is zero and the circuit stays closed")
    send("f", &breaker)
    #expect(breaker.state == .open(until: Self.moment(60)))
    send("ss", &breaker, at: 60)
    #expect(breaker.state == .closed)
  }

  @Test func `default rule opens at twenty failures`() {
    var breaker = Breaker(BreakerRule())
    send(String(repeating: "f", count: 19), &breaker)
    #expect(breaker.state == .closed)
    send("f", &breaker)
    #expect(breaker.state == .open(until: Self.moment(60)))
  }

  @Test func `initialiser sets every property`() {
    let rule = BreakerRule(share: 0.25, window: 40, least: 5, pause: .seconds(10), trials: 3)
    #expect(rule.share == 0.25)
    #expect(rule.window == 40)
    #expect(rule.least == 5)
    #expect(rule.pause == .seconds(10))
    #expect(rule.trials == 3)
  }

  @Test func `given parameters keep the other defaults`() {
    var standard = BreakerRule(pause: .seconds(10))
    #expect(standard != BreakerRule())
    standard.pause = .seconds(60)
    #expect(standard == BreakerRule())
  }

  @Test func `rejection time is the remaining pause`() {
    var breaker = Breaker(Self.rule())
    send("ffff", &breaker, at: 5)
    #expect(breaker.rejectionTime(at: Self.moment(25)) == .seconds(40))
    #expect(breaker.rejectionTime(at: Self.moment(65)) == nil)
  }

  @Test(arguments: [
    ("ss", Breaker.State.closed), ("f", .open(until: Self.moment(121))), ("sf", .open(until: Self.moment(121))),
    ("s", .trying(until: Self.moment(121))), ("nnnns", .trying(until: Self.moment(121))), ("nss", .closed),
  ])
  func `trials close or reopen the circuit`(_ results: String, _ state: Breaker.State) {
    var breaker = Breaker(Self.rule())
    send("ffff", &breaker)
    send(results, &breaker, at: 61)
    #expect(breaker.state == state)
  }

  @Test func `trials are limited to their number`() {
    var breaker = Breaker(Self.rule(trials: 3))
    send("ffff", &breaker)
    let admissions = (0..<5).map { _ in breaker.admit(at: Self.moment(60)) }
    #expect(admissions.prefix(3).allSatisfy { $0 != .rejected(for: .seconds(60)) })
    #expect(admissions.suffix(2).allSatisfy { $0 == .rejected(for: .seconds(60)) })
    guard case .admitted(let generation, true) = admissions[0] else {
      Issue.record("the first request is no trial")
      return
    }
    breaker.end(.nothing, of: generation, at: Self.moment(61))
    #expect(
      breaker.admit(at: Self.moment(61)) == .admitted(generation: generation, isTrial: true),
      "a cancelled trial frees its place"
    )
  }

  @Test func `request of a trial is no further trial`() {
    var breaker = Breaker(Self.rule(trials: 1))
    send("ffff", &breaker)
    #expect(breaker.admit(at: Self.moment(59), isNested: true) == .rejected(for: .seconds(1)), "no trial is running")
    guard case .admitted(let generation, true) = breaker.admit(at: Self.moment(60)) else {
      Issue.record("the first request is no trial")
      return
    }
    #expect(breaker.rejectionTime(at: Self.moment(60)) != nil)
    #expect(breaker.admit(at: Self.moment(60), isNested: true) == .admitted(generation: generation, isTrial: true))
    breaker.end(.success, of: generation, at: Self.moment(61))
    #expect(breaker.state == .closed)
  }

  @Test func `hanging trials expire`() {
    var breaker = Breaker(Self.rule(trials: 1))
    send("ffff", &breaker)
    let hanging = breaker.admit(at: Self.moment(60))
    #expect(breaker.rejectionTime(at: Self.moment(119)) == .seconds(1))
    send("s", &breaker, at: 120)
    #expect(breaker.state == .closed)
    if case .admitted(let generation, _) = hanging { breaker.end(.failure, of: generation, at: Self.moment(121)) }
    #expect(breaker.state == .closed, "a result of an earlier generation is ignored")
  }

  @Test func `results of an earlier generation are ignored`() {
    var breaker = Breaker(Self.rule())
    let early = (0..<8).map { _ in breaker.admit(at: Self.moment(0)) }
    send("ffff", &breaker)
    send("ss", &breaker, at: 61)
    for case .admitted(let generation, _) in early { breaker.end(.failure, of: generation, at: Self.moment(62)) }
    #expect(breaker.state == .closed)
  }

  @Test(arguments: [
    BreakerTests.rule(share: 0), BreakerTests.rule(share: -1), BreakerTests.rule(share: 9),
    BreakerTests.rule(share: .nan),
    BreakerTests.rule(window: 0), BreakerTests.rule(window: .max, least: 4), BreakerTests.rule(least: -5),
    BreakerTests.rule(least: .max), BreakerTests.rule(trials: 0), BreakerTests.rule(trials: -1),
  ])
  func `extreme rules do not trap`(_ rule: BreakerRule) {
    var breaker = Breaker(rule)
    for seconds in 0..<300 { send("sffn", &breaker, at: Double(seconds)) }
    send("ssss", &breaker, at: 500)
    #expect(breaker.rejectionTime(at: Self.moment(1_000)) == nil)
  }

  @Test(arguments: 0..<30 as Range<UInt64>) func `random sequences obey the rules`(seed: UInt64) {
    var random = SeededNumbers(seed: seed)
    for _ in 0..<10 {
      let rule = Self.rule(
        share: Double.random(in: 0.1...1, using: &random), window: Int.random(in: 1...12, using: &random),
        least: Int.random(in: 1...12, using: &random), trials: Int.random(in: 1...4, using: &random))
      var breaker = Breaker(rule)
      var out: [Round] = []
      var now = 0.0
      for _ in 0..<400 {
        let before = breaker
        now += Bool.random(using: &random) ? 0 : Double.random(in: 0..<20, using: &random)
        if Bool.random(using: &random) || out.isEmpty {
          let rejectionTime = breaker.rejectionTime(at: Self.moment(now))
          switch breaker.admit(at: Self.moment(now)) {
          case .admitted(let generation, _):
            #expect(rejectionTime == nil)
            out.append(generation)
          case .rejected(let left):
            #expect(rejectionTime == left && left > .zero && left <= rule.pause && breaker.state == before.state)
            #expect(before.state != .closed)
          }
        } else {
          let generation = out.remove(at: Int.random(in: out.indices, using: &random))
          let result = [Breaker.Result.success, .failure, .nothing].randomElement(using: &random) ?? .nothing
          let opened = breaker.end(result, of: generation, at: Self.moment(now))
          #expect(
            opened
              == (breaker.state == .open(until: Self.moment(now).advanced(by: rule.pause))
                && breaker.generation > before.generation))
          if opened { #expect(result == .failure && before.generation == generation) }
          if generation != before.generation || result == .nothing { #expect(breaker.state == before.state) }
        }
        #expect(breaker.generation >= before.generation && breaker.generation <= before.generation + 1)
        if case .trying = breaker.state {
          #expect(out.filter { $0 == breaker.generation }.count <= max(rule.trials, 1))
        }
      }
      #expect(breaker.rejectionTime(at: Self.moment(now + 61)) == nil, "after the pause an exchange is always admitted")
    }
  }
}
