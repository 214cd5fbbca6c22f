@testable import ErrandCore
import Testing

/// The number of origins that the control remembers, and which ones it removes first.
struct BreakerControlTests {
  private static var rule: BreakerRule {
    BreakerRule(window: 4, least: 1, pause: .seconds(60), trials: 1)
  }

  private func moment(_ seconds: Int) -> MonotonicInstant { .start.advanced(by: .seconds(seconds)) }

  /// Enters an origin and reports the result of the exchange.
  private func ask(
    _ name: String, _ result: Breaker.Result, _ control: BreakerControl, at moment: MonotonicInstant
  ) throws {
    let origin = try HTTPURL("http://\(name).example").origin
    guard case .admitted(let generation, _) = control.admit(origin, Self.rule, at: moment) else { return }
    _ = control.end(result, origin, of: generation, at: moment)
  }

  private func isOpen(_ name: String, _ control: BreakerControl, at moment: MonotonicInstant) throws -> Bool {
    control.rejectionTime(try HTTPURL("http://\(name).example").origin, Self.rule, at: moment) != nil
  }

  @Test func `number of failing origins is bounded`() throws {
    let control = BreakerControl()
    for number in 0..<2_500 { try ask("h\(number)", .failure, control, at: moment(0)) }
    #expect(control.count <= 1_000)
    #expect(try isOpen("h2499", control, at: moment(1)), "the most recent origin is remembered")
  }

  @Test func `expired pauses are removed first`() throws {
    let control = BreakerControl()
    for number in 0..<1_000 { try ask("old\(number)", .failure, control, at: moment(0)) }
    try ask("bad", .failure, control, at: moment(61))
    for number in 0..<500 { try ask("well\(number)", .success, control, at: moment(62)) }
    #expect(control.count == 501)
    #expect(try isOpen("bad", control, at: moment(63)))
  }
}
