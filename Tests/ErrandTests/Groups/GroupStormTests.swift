@testable import ErrandCore
import Errand
import ErrandSupport
import ErrandTesting
import Foundation
import Testing
import TestSupport

/// Random trees of batches and chains with responses in random order, stopped at random: each run has one terminal
/// event, each member ends once, and nothing is left.
@Suite(.serialized) struct GroupStormTests {
  /// The number of storms: `ERRAND_GROUP_STORMS`, or 60.
  private static let storms = ProcessInfo.processInfo.environment["ERRAND_GROUP_STORMS"].flatMap(Int.init) ?? 60

  /// A node of a tree.
  indirect enum Tree: CallGroup {
    case call(String)
    case batch([Tree], width: Int?)
    case chain([Tree])
    case steps([Tree])
    case first([Tree])
    case outcomes([Tree])

    var name: String { "tree" }

    func body(in group: GroupScope) async throws -> Int {
      switch self {
      case .call(let wish):
        _ = try await group.send(Wish(wish))
        return 1
      case .batch(let parts, let width): return try await group.batch(parts, width: width).reduce(0, +)
      case .chain(let parts):
        return try await group.chain { chain in
          var sum = 0
          for pair in stride(from: 0, to: parts.count, by: 2) {
            async let first = chain.send(parts[pair])
            if pair + 1 < parts.count { sum += try await chain.send(parts[pair + 1]) }
            sum += try await first
          }
          return sum
        }
      case .steps(let parts):
        var chain = StepChain()
        for part in parts { chain.add(part, on: .custom { job in Task.detached { job() } }) { _, _ in } }
        return try await group.send(chain).all.count
      case .first(let parts): return try await group.first(of: parts)
      case .outcomes(let parts): return await group.outcomes(of: parts).count
      }
    }

    static func random(depth: Int, _ random: inout SeededNumbers) -> Tree {
      if depth == 0 || random.next(below: 4) == 0 {
        return .call(["ok", "ok", "turn", "turn", "turn", "broken"].randomElement(using: &random) ?? "ok")
      }
      let parts = (0..<random.next(below: 5)).map { _ in Tree.random(depth: depth - 1, &random) }
      switch random.next(below: 5) {
      case 0: return .batch(parts, width: [nil, 1, 2].randomElement(using: &random) ?? nil)
      case 1: return .chain(parts)
      case 2: return .steps(parts)
      case 3: return .first(parts)
      default: return .outcomes(parts)
      }
    }
  }

  /// A client whose server responds after a random number of turns.
  private static func client(
    _ seed: UInt64, _ calls: Recorded<CallEvent>, _ groups: GroupTally, _ clock: ManualClock
  ) -> APIClient {
    let random = Locked(SeededNumbers(seed: seed))
    var configuration = ClientConfiguration(baseURL: "http://h.example")
    configuration.transport = .own(
      ScriptedTransport { request in
        let most = request.url.path.hasPrefix("/turn") ? 60 : 3
        let turns = random.withLock { $0.next(below: most + 1) }
        for _ in 0..<turns {
          try Task.checkCancellation()
          await Task.yield()
        }
        return .text("x", status: request.url.path.hasPrefix("/broken") ? 500 : 200)
      })
    configuration.timers = clock
    configuration.admission = AdmissionLimits(perHost: 4, total: 4)
    configuration.accessories = [GroupNoter("client", Recorded(), calls: calls), groups]
    return APIClient(configuration)
  }

  @Test func `every run ends once`() async {
    let told = Recorded<String>()
    for round in 0..<Self.storms {
      let leaks = LeakCheck()
      var problems = await Self.blow(round, leaks, told)
      problems += await leaks.survivors(turns: 50_000).map { "\($0) lives on" }
      guard problems.isEmpty else {
        Issue.record("round \(round): \(problems.joined(separator: "\n"))")
        return
      }
    }
    let counts = Dictionary(told.all.map { ($0, 1) }, uniquingKeysWith: +)
    print("\(Self.storms) storms of groups: \(counts.sorted { $0.key < $1.key })")
    #expect(
      Set(counts.keys).isSuperset(of: ["success", "cancelled", "validate"]), "the runs must end in all ways: \(counts)")
  }

  private static func blow(_ round: Int, _ leaks: LeakCheck, _ told: Recorded<String>) async -> [String] {
    let (calls, groups, clock) = (Recorded<CallEvent>(), GroupTally(), ManualClock())
    let client = client(UInt64(round), calls, groups, clock)
    leaks.watch(client, "client")
    let ends = Recorded<Int>()
    await withTaskGroup(of: Void.self) { tasks in
      for number in 0..<8 {
        tasks.addTask {
          await run(number, SeededNumbers(seed: UInt64(round * 8 + number)), client, clock, leaks) {
            ends.append(number)
            told.append($0)
          }
        }
      }
    }
    var problems: [String] = []
    if ends.all.sorted() != Array(0..<8) { problems.append("terminal events: \(ends.all)") }
    if await !eventually({ client.registry.running.isEmpty }) {
      problems.append("\(client.registry.running.count) run")
    }
    // A shared exchange that all callers have left ends in the client's own task, shortly afterwards.
    if await !eventually({ client.services.joining.counts == (0, 0) && client.admission == (0, 0) }) {
      problems.append("admission \(client.admission), exchanges \(client.services.joining.counts)")
    }
    if await !eventually({ clock.pending == 0 }) { problems.append("\(clock.pending) timers") }
    let unfinished = calls.unfinished(of: "client")
    if !unfinished.isEmpty { problems.append("calls: \(unfinished)") }
    problems += groups.problems
    return problems
  }

  /// Runs one tree and stops it at a random moment, or not at all.
  private static func run(
    _ number: Int, _ seeded: SeededNumbers, _ client: APIClient, _ clock: ManualClock, _ leaks: LeakCheck,
    _ note: @escaping @Sendable (String) -> Void
  ) async {
    var random = seeded
    let tree = Tree.random(depth: 3, &random)
    var owner: CallOwner? = CallOwner()
    if let owner { leaks.watch(owner, "owner") }
    var options = GroupOptions(deadline: number == 0 ? .seconds(1) : .never, owner: owner, tag: "tree \(number)")
    if Bool.random(using: &random) { options.beforeCompletion = { _ in await Task.yield() } }
    let ended = Latch()
    let tell: @Sendable (GroupOutcome<Tree.Response>) -> Void = { outcome in
      note(outcome.told)
      ended.open()
    }
    var call: GroupCall?
    var task: Task<Void, Never>?
    switch number % 3 {
    case 0: task = Task { [options] in note(await client.outcome(of: tree, options: options).told) }
    case 1: call = client.start(outcomeOf: tree, options: options, tell)
    default:
      let detached = CallbackExecutor.custom { job in Task.detached { job() } }
      call = client.start(outcomeOf: tree, on: detached, options: options, tell)
    }
    for _ in 0..<random.next(below: 41) { await Task.yield() }
    switch random.next(below: 8) {
    case 0: call?.cancel()
    case 1: task?.cancel()
    case 2: if let owner { client.cancel(owner: owner) }
    case 3: owner = nil
    case 4: client.cancel(tag: "tree \(number)")
    case 5: client.running.randomElement(using: &random)?.cancel()
    case 6: if number == 0 { clock.advance(by: .seconds(1)) }
    default: break
    }
    if let task { await task.value } else { await ended.waitStubbornly() }
    withExtendedLifetime(owner) {}
  }
}

/// Counts the notifications about groups.
final class GroupTally: Accessory {
  private let counts = Locked<[UInt64: [Int]]>([:])

  func willStart(_ group: GroupInfo) { note(group, 0) }
  func willStop(_ group: GroupInfo, _ outcome: GroupOutcome<Void>) { note(group, 1) }
  func didStop(_ group: GroupInfo, _ outcome: GroupOutcome<Void>) { note(group, 2) }

  /// The groups that did not receive each notification exactly once.
  var problems: [String] {
    counts.withLock { counts in counts.filter { $0.value != [1, 1, 1] }.map { "group \($0.key): \($0.value)" } }
  }

  private func note(_ group: GroupInfo, _ place: Int) {
    counts.withLock { $0[group.id, default: [0, 0, 0]][place] += 1 }
  }
}
