@testable import ErrandCore
import Errand
import ErrandSupport
import ErrandTesting
import TestSupport
import Testing

/// Accessories and hooks that start a new call or group for each one that they see. Hooks that run after a call has
/// ended may do so without end.
extension NestedCallTests {
  /// The moments at which code of the app starts another call or group.
  enum Moment: CaseIterable {
    case willStart, progressed, before, willStop
    case after, requestHook, didStop

    /// The moments at which the number of nested calls is limited.
    static let limited: [Moment] = [.willStart, .progressed, .before, .willStop]
  }

  /// Starts a call or a group at one moment of each call or group that it sees.
  private final class Looper: Accessory {
    private let moment: Moment
    private let seen = Locked<Set<UInt64>>([])
    private let work = Locked<(@Sendable () -> Void)?>(nil)
    let acted = Recorded<Moment>()
    let failed = Recorded<APIError>()

    init(_ moment: Moment) { self.moment = moment }

    func doing(_ work: (@Sendable () -> Void)?) { self.work.withLock { $0 = work } }

    func act(at now: Moment, _ id: UInt64? = nil) {
      guard now == moment, acted.count < 100 else { return }
      if let id, !seen.withLock({ $0.insert(id).inserted }) { return }
      acted.append(now)
      if let work = work.withLock({ $0 }) { work() }
    }

    func willStart(_ call: CallInfo) { act(at: .willStart, call.id) }
    func progressed(_ call: CallInfo, _ progress: TransferProgress) { act(at: .progressed, call.id) }
    func willStop(_ call: CallInfo, _ outcome: Outcome<Void>) { act(at: .willStop, call.id) }
    func didStop(_ call: CallInfo, _ outcome: Outcome<Void>) { act(at: .didStop, call.id) }
    func willStart(_ group: GroupInfo) { act(at: .willStart, group.id) }
    func progressed(_ group: GroupInfo, _ progress: GroupProgress) { act(at: .progressed, group.id) }
    func willStop(_ group: GroupInfo, _ outcome: GroupOutcome<Void>) { act(at: .willStop, group.id) }
    func didStop(_ group: GroupInfo, _ outcome: GroupOutcome<Void>) { act(at: .didStop, group.id) }
  }

  /// A request that shares no exchange.
  private struct Looping: APIRequest {
    typealias Response = String
    let hook: @Sendable () -> Void
    var path: Path { "/thing" }
    var method: HTTPMethod { .post }
    var delivery: Delivery<String> { Delivery(afterCompletion: { [hook] _ in hook() }) }
  }

  /// Expects that nine calls or groups ran, and that the tenth failed with a sentence that names the code.
  private func expectEnd(of looper: Looper, _ client: APIClient, _ server: LoopbackServer) async {
    #expect(await eventually { looper.failed.count > 0 && client.running.isEmpty && client.runningGroups.isEmpty })
    #expect(looper.acted.count == UserCodeScope.limit + 1 && looper.failed.count == 1)
    #expect(server.requests.count == UserCodeScope.limit + 1)
    let sentence = looper.failed.all.first?.message ?? ""
    let isNamed = ["Looper", "Looping", "batch #"].contains { sentence.contains("8 deep, because \($0)") }
    #expect(isNamed, "\(sentence)")
    looper.doing(nil)
  }

  @Test(arguments: Moment.limited) func `endless calls of a hook end`(_ moment: Moment) async throws {
    let server = try server()
    let client = client(server, nil)
    let looper = Looper(moment)
    let request = Looping { looper.act(at: .requestHook) }
    let options = CallOptions(
      accessories: [looper], beforeCompletion: { _ in looper.act(at: .before) },
      afterCompletion: { _ in looper.act(at: .after) })
    looper.doing { [client] in
      _ = client.start(outcomeOf: request, options: options) { outcome in
        if let error = outcome.error { looper.failed.append(error) }
      }
    }
    #expect(await client.outcome(of: request, options: options).value == "none")
    await expectEnd(of: looper, client, server)
  }

  @Test(arguments: Moment.limited)
  func `endless groups of a hook end`(_ moment: Moment) async throws {
    let server = try server()
    let client = client(server, nil)
    let looper = Looper(moment)
    let options = GroupOptions(
      accessories: [looper], beforeCompletion: { _ in looper.act(at: .before) },
      afterCompletion: { _ in looper.act(at: .after) })
    looper.doing { [client] in
      _ = client.start(outcomeOf: Batch([Looping {}]), options: options) { outcome in
        if let error = outcome.error { looper.failed.append(error) }
      }
    }
    #expect(await client.outcome(of: Batch([Looping {}]), options: options).value == ["none"])
    await expectEnd(of: looper, client, server)
  }

  @Test(arguments: [Moment.after, .requestHook, .didStop])
  func `code after the end may start the next call`(_ moment: Moment) async throws {
    let server = try server()
    let client = client(server, nil)
    let looper = Looper(moment)
    let request = Looping { looper.act(at: .requestHook) }
    let options = CallOptions(accessories: [looper], afterCompletion: { _ in looper.act(at: .after) })
    looper.doing { [client] in
      _ = client.start(outcomeOf: request, options: options) { outcome in
        if let error = outcome.error { looper.failed.append(error) }
        if looper.acted.count >= 20 { looper.doing(nil) }
      }
    }
    #expect(await client.outcome(of: request, options: options).value == "none")
    #expect(await eventually { looper.acted.count >= 20 && client.running.isEmpty })
    #expect(looper.failed.count == 0)
  }

  /// Reads the progress of a call that it sends for each call.
  private final class Reader: Interceptor {
    let client = Locked<APIClient?>(nil)

    func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
      guard let client = client.withLock({ $0 }) else { return try await next(request) }
      let progress = ProgressStream()
      async let outcome = client.outcome(of: Get(method: .post), options: CallOptions(accessories: [progress]))
      for await _ in progress.reports {}
      if let error = await outcome.error { throw error }
      return try await next(request)
    }
  }

  @Test func `progress of a refused call ends`() async throws {
    let server = try server()
    let reader = Reader()
    let client = client(server, nil) { $0.interceptors.calls = [reader] }
    reader.client.withLock { $0 = client }
    let error = await client.outcome(of: Get(method: .post)).error
    reader.client.withLock { $0 = nil }
    #expect(error?.stage == .interceptor && error?.message.contains("8 deep, because Reader") == true)
    #expect(server.requests.isEmpty)
  }

  @Test func `callback may start the next call`() async throws {
    let server = try server()
    let client = client(server, nil)
    let ends = Recorded<String>()
    @Sendable func poll() {
      client.start(outcomeOf: Get()) { outcome in
        ends.append(outcome.value ?? outcome.error?.message ?? "")
        if ends.count < 20 { poll() }
      }
    }
    poll()
    #expect(await eventually { ends.count == 20 })
    #expect(ends.all.allSatisfy { $0 == "none" })
  }
}
