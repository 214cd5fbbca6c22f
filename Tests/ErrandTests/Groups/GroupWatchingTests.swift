@testable import ErrandCore
import Dispatch
import Errand
import ErrandSupport
import ErrandTesting
import Foundation
import Testing
import TestSupport

/// Accessories, the loading indicator, progress, hooks and the log of groups.
struct GroupWatchingTests {
  // MARK: - Accessories

  @Test func `accessories receive group and member events`() async throws {
    let (events, calls) = (Recorded<String>(), Recorded<CallEvent>())
    let server = GroupServer { $0.accessories = [GroupNoter("client", events, calls: calls)] }
    var options = GroupOptions(accessories: [GroupNoter("group", events, calls: calls)])
    options.members.accessories = [GroupNoter("member", events, calls: calls)]
    _ = try await server.client.batch([Number(1), Number(2), Number(3)], options: options)
    #expect(
      events.all.filter { !$0.hasPrefix("progress") } == [
        "willStart client", "willStart group", "willStop client success", "willStop group success",
        "didStop client success", "didStop group success",
      ])
    #expect(calls.stories(of: "client").count == 3 && calls.unfinished(of: "client").isEmpty)
    #expect(calls.stories(of: "member").count == 3 && calls.unfinished(of: "member").isEmpty)
    #expect(calls.stories(of: "group").isEmpty, "the group's own accessories receive only group events")
  }

  @Test func `cached members are reported too`() async throws {
    let (events, calls) = (Recorded<String>(), Recorded<CallEvent>())
    let server = GroupServer()
    _ = try await server.client.batch([Kept(1), Kept(2)])
    server.client.configure { $0.accessories = [GroupNoter("client", events, calls: calls)] }
    _ = try await server.client.batch([Kept(1), Kept(2)])
    #expect(server.transport.requests.count == 2)
    #expect(calls.stories(of: "client").count == 2 && calls.unfinished(of: "client").isEmpty)
    #expect(events.all.last == "didStop client success")
  }

  @Test func `client accessories receive inner groups`() async throws {
    let events = Recorded<String>()
    let server = GroupServer { $0.accessories = [GroupNoter("client", events)] }
    let options = GroupOptions(accessories: [GroupNoter("outer", events)])
    try await server.client.chain(options: options) { chain in
      _ = try await chain.batch([Number(1)], options: GroupOptions(accessories: [GroupNoter("inner", events)]))
    }
    let told = events.all.filter { $0.hasPrefix("didStop") }
    #expect(
      told == ["didStop client success", "didStop inner success", "didStop client success", "didStop outer success"])
  }

  @Test func `empty group is reported once`() async throws {
    let events = Recorded<String>()
    let server = GroupServer()
    try await server.client.batch(options: GroupOptions(accessories: [GroupNoter("group", events)]))
    #expect(events.all == ["willStart group", "willStop group success", "didStop group success"])
  }

  // MARK: - The loading indicator

  @Test func `indicator stays between steps`() async throws {
    let shown = Recorded<Bool>()
    let server = GroupServer()
    let spinner = LoadingIndicator(timers: server.clock) { shown.append($0) }
    server.client.configure {
      $0.accessories = [spinner]
      $0.timeouts.total = .never
    }
    let between = Latch()
    let task = Task {
      try await server.client.chain { chain in
        _ = try await chain.send(Number(1))
        try? await between.wait()
        return try await chain.send(Number(2))
      }
    }
    await between.reached()
    server.clock.advance(by: .milliseconds(300))
    #expect(await eventually { shown.all == [true] }, "the group keeps the indicator although no call runs")
    server.clock.advance(by: .seconds(1))
    #expect(shown.all == [true])
    between.open()
    #expect(try await task.value == 2)
    #expect(await eventually { shown.all == [true, false] })
    #expect(await server.leftovers().isEmpty)
  }

  @Test func `group chooses its indicator`() async throws {
    let (plain, named) = (Recorded<Bool>(), Recorded<Bool>())
    let server = GroupServer()
    server.client.configure {
      $0.accessories = [
        LoadingIndicator(timers: server.clock) { plain.append($0) },
        LoadingIndicator(name: "sync", timers: server.clock) { named.append($0) },
      ]
      $0.timeouts.total = .never
    }
    for (choice, shows) in [(IndicatorChoice.none, false), (.named("sync"), true)] {
      let between = Latch()
      let task = Task {
        await server.client.outcome(
          of: Chain { _ in try await between.wait() }, options: GroupOptions(indicator: choice))
      }
      await between.reached()
      server.clock.advance(by: .seconds(1))
      #expect(await eventually { named.all.last == (shows ? true : nil) })
      server.clock.advance(by: .seconds(1))
      between.open()
      _ = await task.value
    }
    #expect(plain.all.isEmpty)
    #expect(await eventually { named.all == [true, false] })
    #expect(await server.leftovers().isEmpty)
  }

  // MARK: - Progress

  @Test func `progress counts members and bytes`() async throws {
    let server = GroupServer()
    let seen = Recorded<GroupProgress>()
    let options = GroupOptions(onProgress: { seen.append($0) })
    _ = try await server.client.batch([Words("abc"), Words("defg"), Words("h")], width: 1, options: options)
    #expect(seen.all.last == GroupProgress(finished: 3, total: 3, bytes: 8))
    #expect(seen.all.last?.fraction == 1)
    #expect(seen.all.allSatisfy { $0.total == 3 })
    for (before, after) in zip(seen.all, seen.all.dropFirst()) {
      #expect(before.finished <= after.finished && before.bytes <= after.bytes)
    }
    #expect(Set(seen.all.map(\.finished)) == [0, 1, 2, 3])
  }

  @Test func `chain progress has no total`() async throws {
    let server = GroupServer()
    let seen = Recorded<GroupProgress>()
    try await server.client.chain(options: GroupOptions(onProgress: { seen.append($0) })) { chain in
      _ = try await chain.send(Words("abc"))
      _ = try await chain.batch(Words("de"), Words("f"))
    }
    #expect(seen.all.last == GroupProgress(finished: 2, total: nil, bytes: 6), "the bytes of inner groups count")
    #expect(seen.all.last?.fraction == nil)
    #expect(GroupProgress(finished: 0, total: 0, bytes: 0).fraction == nil)
  }

  /// A custom step counts as one member, independent of the number of its calls.
  @Test func `custom step counts once`() async throws {
    struct Twice: GroupStep {
      func run(in group: GroupScope) async throws(APIError) -> String {
        (try await group.send(Words("a"))) + (try await group.send(Words("b")))
      }
    }
    let server = GroupServer()
    let seen = Recorded<GroupProgress>()
    _ = try await server.client.batch(
      [Twice(), Twice()], width: 1, options: GroupOptions(onProgress: { seen.append($0) }))
    #expect(seen.all.allSatisfy { $0.finished <= 2 })
    #expect(seen.all.last == GroupProgress(finished: 2, total: 2, bytes: 4))
    let half = seen.all.first { $0.bytes == 2 }
    #expect(half?.finished == 0, "no member is finished before the first one ends")
  }

  /// A body that arrives in two exchanges counts in both.
  @Test func `redirected bytes are counted`() async throws {
    let server = GroupServer()
    let seen = Recorded<GroupProgress>()
    _ = try await server.client.batch([Wish("moved")], options: GroupOptions(onProgress: { seen.append($0) }))
    #expect(server.paths == ["/moved/moved", "/words/moved"])
    #expect(seen.all.last?.bytes == 19, "gone elsewhere, and moved: \(seen.all)")
  }

  @Test func `failed members count as finished`() async throws {
    let server = GroupServer()
    server.breaks.open()
    let seen = Recorded<GroupProgress>()
    _ = await server.client.outcomes(
      of: ["broken", "ok"].map(Wish.init), width: 1, options: GroupOptions(onProgress: { seen.append($0) }))
    #expect(seen.all.last?.finished == 2)
  }

  enum Place: CaseIterable { case main, serialQueue, concurrentQueue, detachedTasks }

  private static func executor(_ place: Place) -> CallbackExecutor {
    switch place {
    case .main: .main
    case .serialQueue: .queue(DispatchQueue(label: "progress.serial"))
    case .concurrentQueue: .queue(DispatchQueue(label: "progress.concurrent", attributes: .concurrent))
    case .detachedTasks: .custom { job in Task.detached { job() } }
    }
  }

  /// Many members report at once, on any executor: in order, one at a time, none after the end.
  @Test(arguments: Place.allCases) func `progress reports never overlap`(_ place: Place) async {
    for _ in 0..<max(rounds / 5, 1) {
      let server = GroupServer()
      let ended = Latch()
      let (faults, seen) = (Recorded<String>(), Recorded<GroupProgress>())
      let inside = Locked((busy: false, over: false))
      let note: @Sendable (GroupProgress) -> Void = { progress in
        let wasBusy = inside.withLock { inside in
          defer { inside.busy = true }
          return inside.busy || inside.over
        }
        if wasBusy { faults.append("side by side, or after the end") }
        seen.append(progress)
        inside.withLock { $0.busy = false }
      }
      server.client.start(
        Batch((0..<20).map { Words("\($0)") }), on: Self.executor(place),
        onSuccess: { _ in
          inside.withLock { inside in
            if inside.busy { faults.append("the end during a report") }
            inside.over = true
          }
          ended.open()
        }, onProgress: note)
      await ended.waitStubbornly()
      #expect(faults.all.isEmpty)
      #expect(seen.all.last?.finished == 20)
      for (before, after) in zip(seen.all, seen.all.dropFirst()) {
        if before.finished > after.finished || before.bytes > after.bytes { faults.append("\(before) \(after)") }
      }
      #expect(faults.all.isEmpty)
    }
  }

  @MainActor @Test func `delegate receives progress and end`() async throws {
    @MainActor final class Screen: GroupProgressDelegate {
      let events = Recorded<String>()
      let ended = Latch()
      func groupProgressed(_ group: GroupInfo, _ progress: GroupProgress) {
        events.append("progress \(progress.finished)")
      }
      func groupFinished(_ group: GroupInfo, _ value: any Sendable, _ report: GroupReport) {
        events.append("finished \(value) \(report.calls) \(report.isFromCache) \(group.tag ?? "")")
        ended.open()
      }
      func groupFailed(_ group: GroupInfo, _ error: APIError, _ report: GroupReport) { ended.open() }
    }
    let server = GroupServer()
    let screen = Screen()
    server.client.start(Batch([Number(1), Number(2)]), options: .tag("feed"), delegate: screen)
    await screen.ended.waitStubbornly()
    #expect(screen.events.all.last == "finished [1, 2] 2 false feed")
    #expect(screen.events.all.contains("progress 2"))
  }

  // MARK: - Hooks and log

  @Test func `hooks see the same ending`() async throws {
    let server = GroupServer()
    let seen = Recorded<String>()
    let options = GroupOptions(
      beforeCompletion: { seen.append("before \($0.told) \(Task.isCancelled)") },
      afterCompletion: { seen.append("after \($0.told)") })
    _ = try await server.client.batch([Number(1)], options: options)
    #expect(seen.all == ["before success false", "after success"])
    let ended = Latch()
    server.client.start(outcomeOf: Batch([Number(1)]), on: .inPlace, options: options) { _ in ended.open() }
    await ended.waitStubbornly()
    #expect(seen.all.suffix(2) == ["before success false", "after success"])
  }

  @Test(.timeLimit(.minutes(1))) func `progress stream ends with its group`() async throws {
    let server = GroupServer()
    let progress = ProgressStream()
    _ = try await server.client.batch([Number(1)], options: GroupOptions(accessories: [progress]))
    for await _ in progress.reports {}
    #expect(await server.leftovers().isEmpty)
  }

  @Test func `log names the group`() async throws {
    let lines = Recorded<LogLine>()
    let server = GroupServer { $0.log = { lines.append($0) } }
    server.breaks.open()
    let done = await server.client.outcome(of: Chain("sign up") { chain in try await chain.send(Timed(12)) })
    _ = await server.client.outcome(of: Batch([Wish("broken")]))
    let texts = lines.all.map(\.text)
    #expect(texts.contains { $0.hasPrefix("chain #\(done.report.group.id) sign up done in 0.012") })
    #expect(texts.contains { $0.contains("failed: validate/status") && $0.contains("member 1 of the batch, Wish") })
  }

  @MainActor @Test func `late main actor is logged`() async {
    let lines = Recorded<LogLine>()
    let server = GroupServer {
      $0.log = { lines.append($0) }
      $0.timeouts.total = .never
    }
    let ended = Latch()
    server.client.start(outcomeOf: Batch([Number(1)])) { _ in ended.open() }
    holdMain { server.clock.pending == 1 }
    server.clock.advance(by: .seconds(5))
    let warning = lines.all.first { $0.level == .warning }
    #expect(warning?.text.contains("batch") == true && warning?.text.contains("main actor") == true)
    await ended.waitStubbornly()
    #expect(await server.leftovers().isEmpty)
  }
}
