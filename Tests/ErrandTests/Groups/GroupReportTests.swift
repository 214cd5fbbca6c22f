@testable import ErrandCore
import Errand
import ErrandTesting
import Testing
import TestSupport

/// The report of a group: the calls, their order, durations and origins.
struct GroupReportTests {
  @Test func `chain prints its report`() async throws {
    let server = GroupServer()
    server.breaks.open()
    _ = try await server.client.send(Kept(3))
    let outcome = await server.client.outcome(
      of: Chain("sign up") { chain in
        let a = try await chain.send(Timed(8))
        _ = try await chain.send(Kept(3))
        _ = try await chain.batch([Timed(a + 1), Timed(20)], width: 1)
        _ = await chain.outcome(of: Broken())
        return try await chain.send(Timed(100))
      })
    let lines = outcome.report.description.split(separator: "\n").map(String.init)
    #expect(lines.first == "chain #\(outcome.report.group.id) sign up: 6 calls in 137.0 ms")
    #expect(
      Array(lines.dropFirst()) == [
        "  1  Timed     0.0 ms    8.0 ms  network",
        "  2  Kept      8.0 ms    0.0 ms  cache (fresh)",
        "  3  batch     8.0 ms   29.0 ms  done",
        "       1  Timed    0.0 ms    9.0 ms  network",
        "       2  Timed    9.0 ms   20.0 ms  network",
        "  4  Broken   37.0 ms    0.0 ms  failed: status 500",
        "  5  Timed    37.0 ms  100.0 ms  network",
      ])
    #expect(outcome.report.entries.map(\.name) == ["Timed", "Kept", "batch", "Broken", "Timed"])
    #expect(outcome.report.entries[2].report?.entries.map(\.duration) == [.milliseconds(9), .milliseconds(20)])
    #expect(outcome.report.duration == .milliseconds(137))
  }

  @Test func `empty and single reports read well`() async throws {
    let server = GroupServer()
    let none = await server.client.outcome(of: Batch([Number]()))
    #expect(none.report.description == "batch #\(none.report.group.id): 0 calls in 0.0 ms")
    let one = await server.client.outcome(of: Batch([Number(1)]))
    #expect(one.report.description.hasPrefix("batch #\(one.report.group.id): 1 call in 0.0 ms\n  1  Number"))
  }

  @Test func `report of a running group is current`() async throws {
    let server = GroupServer()
    let ended = Latch()
    let call = server.client.start(
      outcomeOf: Chain { chain in
        _ = try await chain.send(Number(1))
        return try await chain.batch(Words("a", latch: true), Words("b", latch: true))
      }, on: .inPlace
    ) { _ in ended.open() }
    await server.latch.reached(2)
    server.clock.advance(by: .milliseconds(5))
    #expect(call.report.calls == 3)
    #expect(
      call.report.description.split(separator: "\n").dropFirst().map(String.init) == [
        "  1  Number    0.0 ms    0.0 ms  network",
        "  2  batch     0.0 ms         …  running",
        "       1  Words    0.0 ms         …  running",
        "       2  Words    0.0 ms         …  running",
      ])
    server.latch.open()
    await ended.waitStubbornly()
    #expect(call.report.entries.map { "\($0.state)" } == ["network", "done"])
  }

  @Test func `report is final after the end`() async throws {
    let server = GroupServer()
    let ended = Latch()
    let call = server.client.start(outcomeOf: Batch([Timed(7)]), on: .inPlace) { _ in ended.open() }
    await ended.waitStubbornly()
    let text = call.report.description
    #expect(text.contains("1 call in 7.0 ms"))
    server.clock.advance(by: .seconds(60))
    #expect(call.report.description == text)
    #expect(call.report.duration == .milliseconds(7))
  }

  @Test func `report distinguishes member states`() async throws {
    let server = GroupServer()
    server.breaks.open()
    let task = Task {
      await server.client.outcome(
        of: Batch(outcomesOf: ["ok", "broken", "held"].map(Wish.init)), options: .deadline(.seconds(1)))
    }
    await server.latch.reached()
    #expect(await eventually { server.paths.count == 3 && server.client.running.count == 1 })
    server.clock.advance(by: .seconds(1))
    let report = await task.value.report
    #expect(report.entries.map { "\($0.state)" }.sorted() == ["failed: deadline", "failed: status 500", "network"])
    guard case .answered(.network, isJoined: false) = report.entries.first(where: { "\($0.state)" == "network" })?.state
    else {
      Issue.record("no member with the expected state in \(report)")
      return
    }
  }

  @Test func `report names a cancelled chain that cannot throw`() async throws {
    let server = GroupServer()
    let outcome = await server.client.outcome(
      of: Chain { chain in
        await chain.chain { (inner: GroupScope) async -> Int in
          inner.cancel()
          return 7
        }
      })
    #expect(outcome.value == 7 && outcome.report.entries.map { "\($0.state)" } == ["cancelled"])
  }

  @Test func `report marks joined members`() async throws {
    let server = GroupServer()
    server.client.configure { $0.overlap.joining = .safe }
    let task = Task { await server.client.outcome(of: Batch([Words("a", latch: true), Words("a", latch: true)])) }
    #expect(await eventually { server.client.services.joining.counts.waiting == 2 })
    server.latch.open()
    let outcome = await task.value
    #expect(outcome.value == ["a", "a"])
    #expect(server.paths == ["/held/a"])
    #expect(outcome.report.entries.map { "\($0.state)" }.sorted() == ["network", "network, joined"])
    #expect(await server.leftovers().isEmpty)
  }

  // MARK: - From the cache

  @Test func `group is cached if all members are`() async throws {
    let server = GroupServer()
    let batch = Batch([Kept(1), Kept(2)])
    #expect(await server.client.outcome(of: batch).isFromCache == false)
    #expect(await server.client.outcome(of: batch).isFromCache == true)
    let mixed = await server.client.outcome(of: Batch(Kept(1), Number(2)))
    #expect(!mixed.isFromCache)
    let nested = await server.client.outcome(
      of: Chain { chain in
        _ = try await chain.send(Kept(1))
        _ = try await chain.batch([Kept]())
        return try await chain.send(batch)
      })
    #expect(nested.isFromCache, "an empty inner batch needs no request")
    #expect(await server.client.outcome(of: Batch([Kept]())).isFromCache == false, "there were no calls")
    server.breaks.open()
    let failed = await server.client.outcome(of: Batch(outcomesOf: [Wish("broken")]))
    #expect(!failed.isFromCache)
  }

  @Test func `ending says whether all was cached`() async throws {
    let server = GroupServer()
    let endings = Recorded<Bool>()
    let options = GroupOptions(afterCompletion: { endings.append($0.isFromCache) })
    for _ in 0..<2 { _ = try await server.client.batch([Kept(1)], options: options) }
    #expect(endings.all == [false, true])
  }
}
