@testable import ErrandCore
import Errand
import ErrandTesting
import Testing
import TestSupport

/// Every batch method, stopped in every way while its members wait for responses.
struct GroupStopTests {
  enum Verb: CaseIterable, Sendable { case tuple, array, mixed, outcomes, first, firstMixed, atLeast, atLeastMixed }
  enum Way: CaseIterable, Sendable {
    case task, owner, ownerFreed, tag, all, deadline

    var stage: APIError.Stage { self == .deadline ? .deadline : .cancelled }
    var message: String {
      switch self {
      case .deadline: "The batch did not end within its deadline of 5.0 seconds; raise `deadline` to wait longer."
      case .ownerFreed:
        "The batch was cancelled, and its `CallOwner` no longer exists; calls end with their owner, so store the owner "
          + "for as long as they may run."
      case .task, .owner, .tag, .all: "The batch was cancelled."
      }
    }
  }

  @Test(arguments: Verb.allCases, Way.allCases)
  func `every stop ends every batch`(_ verb: Verb, _ way: Way) async {
    let server = GroupServer()
    var owner: CallOwner? = CallOwner()
    let calls = Recorded<CallEvent>()
    let events = Recorded<String>()
    var options = GroupOptions(deadline: .seconds(5), owner: owner, tag: "feed")
    options.members.accessories = [GroupNoter("member", Recorded(), calls: calls)]
    options.accessories = [GroupNoter("group", events)]
    let task = Task { [options] in await Self.errors(verb, server.client, options) }
    options = GroupOptions()
    await server.latch.reached(2)
    switch way {
    case .task: task.cancel()
    case .owner: if let owner { #expect(server.client.cancel(owner: owner) == 1, "a group counts for its members") }
    case .ownerFreed: owner = nil
    case .tag: #expect(server.client.cancel(tag: "feed") == 1)
    case .all: #expect(server.client.cancelAll() == 1)
    case .deadline: server.clock.advance(by: .seconds(5))
    }
    let errors = await task.value
    #expect(errors.map(\.stage) == Array(repeating: way.stage, count: verb == .outcomes ? 2 : 1))
    if verb != .outcomes {
      #expect(errors.map(\.message) == [way.message])
      #expect(errors.first?.members.isEmpty == true, "the error names no member")
    }
    let told = way.stage.rawValue
    #expect(
      calls.stories(of: "member") == Array(repeating: ["willStart", "willStop \(told)", "didStop \(told)"], count: 2))
    #expect(
      events.all.filter { !$0.hasPrefix("progress") }
        == ["willStart group", "willStop group \(told)", "didStop group \(told)"])
    #expect(await server.leftovers().isEmpty)
    withExtendedLifetime(owner) {}
  }

  /// Stopping by the handle, for batches that are started.
  @MainActor @Test(arguments: Verb.allCases) func `handle stops a started batch`(_ verb: Verb) async {
    let server = GroupServer()
    let ended = Latch()
    let told = Recorded<APIError?>()
    let call = Self.start(verb, server.client) {
      told.append($0)
      ended.open()
    }
    await server.latch.reached(2)
    #expect(call.isExecuting && !call.isCancelled)
    #expect(call.progress == GroupProgress(finished: 0, total: 2, bytes: 0))
    call.cancel()
    #expect(call.isExecuting && call.isCancelled)
    await ended.waitStubbornly()
    #expect(told.all.map { $0?.message } == ["The batch was cancelled."])
    #expect(!call.isExecuting && call.isCancelled)
    #expect(await server.leftovers().isEmpty)
  }

  @Test func `released owner starts no member`() async {
    let server = GroupServer()
    let options = GroupOptions(owner: CallOwner())
    let calls = Recorded<CallEvent>()
    server.client.configure { $0.accessories = [GroupNoter("client", Recorded(), calls: calls)] }
    let outcome = await server.client.outcome(of: Batch(Number(1), Number(2)), options: options)
    #expect(outcome.told == "cancelled")
    #expect(calls.all.isEmpty && server.transport.requests.isEmpty)
    #expect(await server.leftovers().isEmpty)
  }

  @Test func `error names the cancelled member`() async throws {
    let server = GroupServer()
    async let ended = server.client.outcome(of: Batch(Words("a", latch: true), Words("b", latch: true), width: 1))
    await server.latch.reached()
    try #require(server.client.running.first).cancel()
    let outcome = await ended
    #expect(outcome.error?.stage == .cancelled)
    #expect(outcome.error?.members.map(\.index) == [0])
    #expect(outcome.error?.message == "The call was cancelled.")
    #expect(server.paths == ["/held/a"])
  }

  @Test func `running groups are listed`() async throws {
    let server = GroupServer()
    let batch = Batch(Words("a", latch: true), Words("b", latch: true))
    async let ended = server.client.outcome(of: Chain("outer") { try await $0.send(batch) }, options: .tag("feed"))
    await server.latch.reached(2)
    let groups = server.client.runningGroups
    #expect(Set(groups.map(\.info.name)) == ["outer", "batch"])
    #expect(groups.allSatisfy { $0.isExecuting && $0.info.tag == "feed" })
    #expect(server.client.running.count == 2)
    try #require(groups.first { $0.info.name == "outer" }).cancel()
    #expect(await ended.error?.stage == .cancelled)
    #expect(server.client.runningGroups.isEmpty)
    #expect(await server.leftovers().isEmpty)
  }

  @Test func `changed priority reaches all members`() async {
    struct Watch: Interceptor {
      let seen: Recorded<CallPriority>
      func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
        seen.append(context.call.priority)
        return try await next(request)
      }
    }
    let seen = Recorded<CallPriority>()
    let server = GroupServer { $0.interceptors.exchanges = [Watch(seen: seen)] }
    let ended = Latch()
    let batch = Batch(Words("a", latch: true), Batch(Number(1), Number(2), width: 1), width: 1)
    let group = server.client.start(outcomeOf: batch, on: .inPlace) { _ in ended.open() }
    await server.latch.reached()
    group.change(priority: .high)
    #expect(server.client.running.map(\.priority) == [.high])
    server.latch.open()
    await ended.waitStubbornly()
    #expect(seen.all == [.normal, .high, .high])
    group.change(priority: .low)
    #expect(await server.leftovers().isEmpty)
  }

  /// A step may wait for something other than a call; a stop ends the batch anyway.
  @Test(arguments: Way.allCases) func `stop reaches steps without calls`(_ way: Way) async {
    let server = GroupServer()
    let latch = Latch()
    var owner: CallOwner? = CallOwner()
    var options: GroupOptions? = GroupOptions(deadline: .seconds(5), owner: owner, tag: "feed")
    let task = Task { [options] in
      await server.client.outcome(
        of: Batch(Waiting(latch: latch), Waiting(latch: latch)), options: options ?? GroupOptions())
    }
    options = nil
    await latch.reached(2)
    switch way {
    case .task: task.cancel()
    case .owner: if let owner { server.client.cancel(owner: owner) }
    case .ownerFreed: owner = nil
    case .tag: server.client.cancel(tag: "feed")
    case .all: server.client.cancelAll()
    case .deadline: server.clock.advance(by: .seconds(5))
    }
    let hasEnded = await eventually(turns: 20_000) { server.client.registry.running.isEmpty }
    #expect(hasEnded)
    if !hasEnded { latch.open() }
    #expect(await task.value.error?.stage == way.stage)
    withExtendedLifetime(owner) {}
  }

  // MARK: - Batch methods

  private static func errors(
    _ verb: Verb, _ client: APIClient, _ options: GroupOptions
  ) async -> [APIError] {
    let held = [Wish("held"), Wish("held")]
    do throws(APIError) {
      switch verb {
      case .tuple: _ = try await client.batch(held[0], held[1], options: options)
      case .array: _ = try await client.batch(held, options: options)
      case .mixed: _ = try await client.batch(mixed: held, options: options)
      case .outcomes: return await client.outcomes(of: held, options: options).compactMap(\.error)
      case .first: _ = try await client.first(of: held, options: options)
      case .firstMixed: _ = try await client.first(mixed: held, options: options)
      case .atLeast: _ = try await client.atLeast(2, of: held, options: options)
      case .atLeastMixed: _ = try await client.atLeast(2, mixed: held, options: options)
      }
      return []
    } catch {
      return [error]
    }
  }

  @MainActor private static func start(
    _ verb: Verb, _ client: APIClient, _ onEnd: @escaping @MainActor (APIError?) -> Void
  ) -> GroupCall {
    let held = [Wish("held"), Wish("held")]
    switch verb {
    case .tuple: return client.start(outcomeOf: Batch(held[0], held[1])) { onEnd($0.error) }
    case .array: return client.start(outcomeOf: Batch(held)) { onEnd($0.error) }
    case .mixed: return client.start(outcomeOf: Batch(mixed: held)) { onEnd($0.error) }
    case .outcomes: return client.start(outcomeOf: Batch(outcomesOf: held)) { onEnd($0.error) }
    case .first: return client.start(outcomeOf: Batch(firstOf: held)) { onEnd($0.error) }
    case .firstMixed: return client.start(outcomeOf: Batch(firstOfMixed: held)) { onEnd($0.error) }
    case .atLeast: return client.start(outcomeOf: Batch(atLeast: 2, of: held)) { onEnd($0.error) }
    case .atLeastMixed: return client.start(outcomeOf: Batch(atLeast: 2, ofMixed: held)) { onEnd($0.error) }
    }
  }
}
