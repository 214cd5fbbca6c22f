@testable import ErrandCore
import ErrandTesting
import Testing

/// Nested calls, which must not wait for a slot in the queue.
struct AdmissionBeyondTests {
  private typealias Queue = AdmissionQueue<Int>
  private static let red = HTTPURL.Origin.test("http://red.example")

  /// One slot, and one request each second.
  private static let limits = AdmissionLimits(
    perHost: 1, total: 1, rates: [HostRate("red.example", requests: 1, burst: 1)])

  private static func slot(_ entrance: Queue.ReservedEntrance) -> Queue.Slot? {
    if case .admitted(let slot) = entrance { slot } else { nil }
  }

  @Test func `nested calls exceed limits and are counted`() throws {
    var queue = Queue(limits: AdmissionLimits(perHost: 1, total: 1))
    let entered = queue.tryEnter(Self.red)
    let first = try #require(entered)
    let token = queue.reserveToken(Self.red, .start)
    let beyond = Self.slot(queue.enterBeyond(Self.red, .start))
    let second = try #require(beyond)
    #expect(token == nil && queue.running == 2)
    _ = queue.release(first, .start)
    let third = queue.tryEnter(Self.red)
    #expect(third == nil, "the limit applies to all other calls")
    _ = queue.release(second, .start)
    #expect(queue.running == 0)
  }

  @Test func `waiting for a token holds no slot`() {
    var queue = Queue(limits: Self.limits)
    let moments = (1...3).map { _ in queue.reserveToken(Self.red, .start) }
    #expect(moments == [nil, .after(.seconds(1)), .after(.seconds(2))], "each call reserves a separate token")
    #expect(queue.running == 0)
  }

  @Test func `returned token goes to next call`() {
    var queue = Queue(limits: Self.limits)
    let moment = queue.reserveToken(Self.red, .start)
    queue.giveBackToken(Self.red)
    let slot = queue.tryEnter(Self.red, .start)
    #expect(moment == nil && slot != nil)
  }

  @Test func `closed host delays nested calls too`() throws {
    var queue = Queue(limits: Self.limits)
    let entered = queue.tryEnter(Self.red, .start)
    let first = try #require(entered)
    let moment = queue.reserveToken(Self.red, .start)
    #expect(moment == .after(.seconds(1)))
    queue.learn(.closed(.seconds(50)), first, since: .start)
    guard case .closed(let opening) = queue.enterBeyond(Self.red, .after(.seconds(1))) else {
      Issue.record("the call was admitted at a closed host")
      return
    }
    #expect(opening == .after(.seconds(50)))
    let slot = Self.slot(queue.enterBeyond(Self.red, .after(.seconds(50))))
    #expect(slot != nil)
  }

  @Test func `nested calls probe one by one`() throws {
    var queue = Queue(limits: AdmissionLimits(rates: [.followingServer("red.example")]))
    let entered = queue.tryEnter(Self.red, .start)
    let first = try #require(entered)
    queue.learn(.limits([.rest(0, .seconds(30))], isRefused: false), first, since: .start)
    for _ in 1...2 {
      let moment = queue.reserveToken(Self.red, .start)
      #expect(moment == .after(.seconds(30)))
    }
    let probe = Self.slot(queue.enterBeyond(Self.red, .after(.seconds(30))))
    let other = queue.enterBeyond(Self.red, .after(.seconds(30)))
    #expect(probe != nil)
    guard case .closed(let next) = other, next == .after(.seconds(40)) else {
      Issue.record("the second call did not wait for the probe: \(other)")
      return
    }
  }
}
