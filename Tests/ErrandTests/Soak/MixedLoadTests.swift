import Errand
import ErrandTesting
import Foundation
import Testing
import TestSupport

/// Mixed load on a server that misbehaves at random: no wrong response, no hang, and nothing left behind.
///
/// `ERRAND_SOAK_SECONDS` sets the duration (default: two seconds), `ERRAND_SOAK_SEED` the seed of the random numbers.
/// Each round has its own server and client, which are released at its end.
@Suite(.serialized) struct MixedLoadTests {
  private static let environment = ProcessInfo.processInfo.environment
  private static let seconds = environment["ERRAND_SOAK_SECONDS"].flatMap(Int.init) ?? 2
  private static let seed = environment["ERRAND_SOAK_SEED"].flatMap(UInt64.init) ?? UInt64.random(in: 0...9_999)
  private static let callsOfRound = 400
  private static let sideBySide = 16

  @Test func `random server faults do no harm`() async throws {
    let end = ContinuousClock.now + .seconds(Self.seconds)
    var random = SeededNumbers(seed: Self.seed)
    let tally = MixedTally()
    // The first rounds show the memory that the process needs in any case; the later rounds show leaks.
    for _ in 0..<3 { try await Self.round(random.next(), tally) }
    let (descriptors, memory) = (ProcessUse.descriptors, ProcessUse.residentBytes)
    var rounds = 0
    while .now < end || rounds == 0 {
      try await Self.round(random.next(), tally)
      rounds += 1
    }
    #expect(await eventually { ProcessUse.descriptors <= descriptors + 8 }, "\(ProcessUse.descriptors - descriptors)")
    let growth = ProcessUse.residentBytes - memory
    print("mixed load, seed \(Self.seed), \(rounds) rounds: \(tally), \(growth >> 20) MiB more")
    #expect(tally.wrong.isEmpty, "seed \(Self.seed): \(tally.wrong.prefix(5))")
    #expect(tally.successes > rounds * 10, "most calls must succeed")
    if !isSanitized { #expect(growth < 64 << 20) }
  }

  private static func round(_ seed: UInt64, _ tally: MixedTally) async throws {
    let leaks = LeakCheck()
    let server = try MoodyServer(seed: seed)
    try await load(server, seed, tally, leaks)
    #expect(await leaks.survivors(turns: 200_000).isEmpty, "round \(seed)")
    for (name, count) in server.posts where count > 1 { tally.note(wrong: "POST \(name) came \(count) times") }
    server.stop()
  }

  private static func load(
    _ server: MoodyServer, _ seed: UInt64, _ tally: MixedTally, _ leaks: LeakCheck
  ) async throws {
    let caller = try MixedCaller(server, tally)
    leaks.watch(caller.client, "client")
    leaks.watch(caller.transport, "transport")
    await withTaskGroup { group in
      for lane in 0..<sideBySide {
        group.addTask {
          var random = SeededNumbers(seed: seed &+ UInt64(lane))
          for _ in 0..<(callsOfRound / sideBySide) { await caller.call(&random) }
        }
      }
    }
    let client = caller.client
    #expect(await eventually { client.running.isEmpty && client.admission == (0, 0) }, "round \(seed)")
    caller.clean()
  }
}
