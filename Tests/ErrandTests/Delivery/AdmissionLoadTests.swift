import ErrandSupport
import Errand
@testable import ErrandCore
import ErrandTesting
import Foundation
import Testing
import TestSupport

/// Ten thousand concurrent calls over a few slots, ended at random: each ends once, and nothing is left.
@Suite(.serialized) struct AdmissionLoadTests {
  /// Counts the exchanges that run at each host and in total.
  private final class Gauge: Transport {
    struct Counts: Sendable {
      var hosts: [String: Int] = [:]
      var total = 0
      var highest: [String: Int] = [:]
      var highestTotal = 0
      var served = 0
    }

    let counts = Locked(Counts())
    private let random = Locked(SeededNumbers(seed: 1))

    func send(_ exchange: Exchange) async throws -> HTTPResponse {
      let host = exchange.request.url.host
      counts.withLock { counts in
        let here = counts.hosts[host, default: 0] + 1
        counts.hosts[host] = here
        counts.total += 1
        counts.highest[host] = max(here, counts.highest[host] ?? 0)
        counts.highestTotal = max(counts.total, counts.highestTotal)
      }
      defer {
        counts.withLock { counts in
          counts.hosts[host, default: 1] -= 1
          counts.total -= 1
          counts.served += 1
        }
      }
      for _ in 0..<random.withLock({ $0.next(below: 4) }) { await Task.yield() }
      try Task.checkCancellation()
      return HTTPResponse(head: ResponseHead(status: 200), body: Data("value".utf8), url: exchange.request.url)
    }
  }

  private struct LoadRequest: APIRequest {
    typealias Response = String
    let host: Int
    let number: Int
    var path: Path { RequestPath(stringLiteral: "http://h\(host).example/load?\(number)") }
    var priority: CallPriority { CallPriority.allCases[host % 3] }
  }

  private static let calls = 10_000
  private static let hosts = 8

  /// The results of all calls.
  private final class Ends: Sendable {
    let left = Counter(calls)
    let all = Latch()
    private let counters = (0..<calls).map { _ in Counter() }
    private let words = Locked<[String: Int]>([:])

    func note(_ index: Int, _ told: String) {
      words.withLock { $0[told, default: 0] += 1 }
      counters[index].add(1)
      if left.add(-1) == 0 { all.open() }
    }

    var areSingle: Bool { counters.allSatisfy { $0.value == 1 } }
    var told: [String: Int] { words.withLock { $0 } }
  }

  private static func client(_ gauge: Gauge, _ clock: ManualClock) -> APIClient {
    var configuration = ClientConfiguration(baseURL: "http://h.example")
    configuration.transport = .own(gauge)
    configuration.timers = clock
    configuration.admission = AdmissionLimits(perHost: 6, total: 40)
    return APIClient(configuration)
  }

  /// Starts all calls. Some get a deadline, some are cancelled immediately or soon.
  private static func startAll(_ client: APIClient, _ clock: ManualClock, _ ends: Ends) {
    var random = SeededNumbers(seed: 1)
    for index in 0..<calls {
      let isLimited = index.isMultiple(of: 3)
      let deadline: TimeLimit = isLimited ? .milliseconds(1 + random.next(below: 100)) : .never
      let request = LoadRequest(host: index % hosts, number: index)
      let call = client.start(outcomeOf: request, on: .inPlace, options: .deadline(deadline)) {
        ends.note(index, $0.told)
      }
      if index.isMultiple(of: 5) { call.cancel() }
      if index.isMultiple(of: 7) { Task { call.cancel() } }
      if index.isMultiple(of: 100) { clock.advance(by: .milliseconds(1)) }
    }
    clock.advance(by: .milliseconds(100))
  }

  @Test func `ten thousand calls each end once`() async {
    let (gauge, clock, ends) = (Gauge(), ManualClock(), Ends())
    let client = Self.client(gauge, clock)
    Self.startAll(client, clock, ends)
    await ends.all.waitStubbornly()
    #expect(ends.areSingle)
    #expect(await eventually { client.running.isEmpty })
    // An exchange that all callers have left ends in the client's own task, shortly afterwards.
    #expect(await eventually { client.services.joining.isIdle && client.admission == (0, 0) })
    #expect(await eventually { clock.pending == 0 })
    let counts = gauge.counts.withLock { $0 }
    #expect(counts.highest.values.allSatisfy { $0 <= 6 } && counts.highestTotal <= 40)
    #expect(counts.total == 0)
    #expect(Set(ends.told.keys).isSubset(of: ["success", "cancelled", "deadline"]))
    print("10,000 calls: \(ends.told), at most \(counts.highestTotal) at once, \(counts.served) exchanges")
  }

  @Test func `priority decides the order of admission`() async {
    let latch = Latch()
    let order = Recorded<String>()
    var configuration = ClientConfiguration(baseURL: "http://h.example")
    configuration.transport = .own(
      ScriptedTransport { request in
        order.append(request.fields["X-Name"] ?? "")
        try await latch.wait()
        return .text("")
      })
    configuration.admission = AdmissionLimits(perHost: 1)
    let client = APIClient(configuration)
    var started = 0
    for (name, priority) in [("first", CallPriority.low), ("low", .low), ("normal", .normal), ("high", .high)] {
      var options = CallOptions(priority: priority)
      options.headers.set("X-Name", RequestHeaders.FieldValue(name))
      client.start(WatchedRequest(), on: .inPlace, options: options) { _ in }
      started += 1
      #expect(await eventually { client.admission == (1, started - 1) })
    }
    latch.open()
    #expect(await eventually { client.running.isEmpty })
    #expect(order.all == ["first", "high", "normal", "low"])
  }

  @Test func `admission races with stops`() async {
    for _ in 0..<rounds * 4 {
      let latch = Latch()
      var configuration = ClientConfiguration(baseURL: "http://h.example")
      configuration.transport = .own(
        ScriptedTransport { _ in
          try await latch.wait()
          return .text("")
        })
      configuration.admission = AdmissionLimits(perHost: 1)
      configuration.overlap.joining = .never
      let client = APIClient(configuration)
      let calls = (0..<4).map { _ in client.start(WatchedRequest(), on: .inPlace) { _ in } }
      await latch.reached()
      await withTaskGroup(of: Void.self) { group in
        group.addTask { latch.open() }
        for call in calls.prefix(3) { group.addTask { call.cancel() } }
      }
      let isEmpty = await eventually { client.running.isEmpty && client.admission == (0, 0) }
      #expect(isEmpty, "\(client.admission)")
      if !isEmpty { return }
    }
  }
}

/// A counter that is safe to use from any thread.
private final class Counter: Sendable {
  private let number: Locked<Int>

  init(_ value: Int = 0) { number = Locked(value) }

  var value: Int { number.withLock { $0 } }

  /// Returns the new value.
  @discardableResult func add(_ step: Int) -> Int {
    number.withLock { number in
      number += step
      return number
    }
  }
}
