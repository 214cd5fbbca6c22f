import ErrandSupport
import Errand
@testable import ErrandCore
import ErrandTesting
import Foundation
import Testing
import TestSupport

/// Calls that join, leave and end at the same moment: each ends once, and nothing is left.
struct JoinRaceTests {
  private final class Yielding: Transport {
    private let asked: Recorded<Int>
    private let random = Locked(SeededNumbers(seed: 1))
    var capabilities: TransportCapabilities { .progress }

    init(asked: Recorded<Int>) { self.asked = asked }

    func send(_ exchange: Exchange) async throws -> HTTPResponse {
      asked.append(1)
      for step in 0..<random.withLock({ $0.next(below: 4) }) {
        exchange.onProgress?(TransferProgress(.download, bytes: Int64(step), total: nil))
        await Task.yield()
      }
      try Task.checkCancellation()
      if random.withLock({ $0.next(below: 8) }) == 0 { throw TransportFailure(.reset, "it was reset") }
      return HTTPResponse(head: ResponseHead(status: 200), body: Data("value".utf8), url: exchange.request.url)
    }
  }

  /// Reports whether progress arrived after the end.
  private final class Order: Accessory {
    let faults = Recorded<String>()
    private let ended = Locked(false)
    func progressed(_ call: CallInfo, _ progress: TransferProgress) {
      if ended.withLock({ $0 }) { faults.append("progress after the end") }
    }
    func willStop(_ call: CallInfo, _ outcome: Outcome<Void>) { ended.withLock { $0 = true } }
  }

  @Test func `joins race with leaves`() async {
    let fixture = JoinFixture { $0.transport = .own(Yielding(asked: Recorded())) }
    for round in 0..<rounds * 4 {
      let orders = (0..<6).map { _ in Order() }
      let told = await withTaskGroup(of: String.self) { group in
        for (number, order) in orders.enumerated() {
          group.addTask {
            var random = SeededNumbers(seed: UInt64(round * 6 + number))
            let options = CallOptions(priority: CallPriority.allCases[number % 3], accessories: [order])
            let call = Task { await fixture.client.outcome(of: JoinText(), options: options).told }
            if number % 2 == 0 {
              for _ in 0..<random.next(below: 6) { await Task.yield() }
              call.cancel()
            }
            return await call.value
          }
        }
        group.addTask { await fixture.client.outcome(of: JoinText(method: .put)).told }
        return await group.reduce(into: []) { $0.append($1) }
      }
      #expect(told.count == 7, "round \(round)")
      #expect(Set(told).isSubset(of: ["success", "cancelled", "transport"]), "\(told)")
      #expect(orders.allSatisfy { $0.faults.all.isEmpty })
      let isIdle = await fixture.isIdle()
      #expect(isIdle)
      if !isIdle { return }
    }
  }

  @Test func `last leave races with a join`() async {
    let fixture = JoinFixture()
    for _ in 0..<rounds * 10 {
      let first = Task { await fixture.client.outcome(of: JoinText()) }
      #expect(await fixture.waiting(1))
      async let second = fixture.client.start(outcomeOf: JoinText(), on: .inPlace) { _ in }
      first.cancel()
      #expect(await first.value.told == "cancelled")
      let call = await second
      #expect(await fixture.waiting(1), "the second call has an exchange: the first one's or a new one")
      call.cancel()
      #expect(await fixture.isIdle())
    }
  }

  @Test func `left call receives nothing after its end`() async {
    for _ in 0..<rounds {
      let inside = Latch()
      let holds = Recorded([true])
      struct Telling: Transport {
        var capabilities: TransportCapabilities { .progress }
        func send(_ exchange: Exchange) async throws -> HTTPResponse {
          exchange.onProgress?(TransferProgress(.download, bytes: 1, total: nil))
          throw TransportFailure(.reset, "it was reset")
        }
      }
      final class Slow: Accessory {
        let inside: Latch
        let hold: @Sendable () -> Void
        let events = Recorded<String>()
        init(_ inside: Latch, _ hold: @escaping @Sendable () -> Void) {
          self.inside = inside
          self.hold = hold
        }
        func progressed(_ call: CallInfo, _ progress: TransferProgress) {
          events.append("begins")
          inside.open()
          hold()
          events.append("ends")
        }
        func willStop(_ call: CallInfo, _ outcome: Outcome<Void>) { events.append("stops") }
      }
      let fixture = JoinFixture { $0.transport = .own(Telling()) }
      let slow = Slow(inside) { while holds.count == 1 {} }
      let call = Task { @concurrent in
        await fixture.client.outcome(of: JoinText(), options: CallOptions(accessories: [slow]))
      }
      await inside.waitStubbornly()
      call.cancel()
      for _ in 0..<5 { await Task.yield() }
      holds.append(false)
      #expect(["cancelled", "transport"].contains(await call.value.told))
      #expect(slow.events.all == ["begins", "ends", "stops"])
    }
  }
}
