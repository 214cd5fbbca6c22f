import Dispatch
import Errand
import ErrandCore
import ErrandHTTP
import ErrandTesting
import Foundation
import Synchronization
import Testing
import TestSupport

/// Progress is delivered in order, one report at a time and never after the end, on any executor.
struct DeliveryProgressTests {
  /// Reports a body in many steps, optionally from many threads.
  private struct Chatty: Transport {
    static let steps = 40

    func send(_ exchange: Exchange) async throws -> HTTPResponse {
      for step in 1...Self.steps {
        exchange.onProgress?(TransferProgress(.download, bytes: Int64(step), total: Int64(Self.steps)))
      }
      return HTTPResponse(head: ResponseHead(status: 200), body: Data("value".utf8), url: exchange.request.url)
    }
  }

  /// Records the reports, and whether two were ever delivered at the same time.
  private final class Watcher: Accessory {
    let steps = Recorded<Int64>()
    let faults = Recorded<String>()
    let ended = Latch()
    private let inside = Atomic<Int>(0)
    private let hasStopped = Atomic<Bool>(false)

    func progressed(_ call: CallInfo, _ progress: TransferProgress) {
      alone { steps.append(progress.bytes) }
      if hasStopped.load(ordering: .acquiring) { faults.append("progress after the end") }
    }
    func willStop(_ call: CallInfo, _ outcome: Outcome<Void>) {
      alone { hasStopped.store(true, ordering: .releasing) }
    }
    func didStop(_ call: CallInfo, _ outcome: Outcome<Void>) { ended.open() }

    private func alone(_ body: () -> Void) {
      if inside.wrappingAdd(1, ordering: .acquiringAndReleasing).oldValue != 0 { faults.append("side by side") }
      body()
      inside.wrappingSubtract(1, ordering: .acquiringAndReleasing)
    }
  }

  enum Place: CaseIterable { case main, serialQueue, concurrentQueue, detachedTasks, inPlace }

  private static let serial = DispatchQueue(label: "progress.serial")
  private static let concurrent = DispatchQueue(label: "progress.concurrent", attributes: .concurrent)

  private static func executor(_ place: Place) -> CallbackExecutor {
    switch place {
    case .main: .main
    case .serialQueue: .queue(serial)
    case .concurrentQueue: .queue(concurrent)
    case .detachedTasks: .custom { job in Task.detached { job() } }
    case .inPlace: .custom { job in job() }
    }
  }

  private func client(_ watcher: Watcher) -> APIClient {
    var configuration = ClientConfiguration(baseURL: "http://h.example")
    configuration.transport = .own(Chatty())
    configuration.accessories = [watcher]
    return APIClient(configuration)
  }

  @Test(arguments: Place.allCases) func `progress precedes the end`(place: Place) async {
    for _ in 0..<rounds {
      let watcher = Watcher()
      let told = Recorded<Int64>()
      client(watcher).start(WatchedRequest(), on: Self.executor(place)) { _ in
        told.append(-1)
      } onProgress: {
        told.append($0.bytes)
      }
      await watcher.ended.waitStubbornly()
      #expect(watcher.faults.all.isEmpty)
      #expect(watcher.steps.all == Array(1...Int64(Chatty.steps)))
      #expect(told.all == Array(1...Int64(Chatty.steps)) + [-1])
      if !watcher.faults.all.isEmpty { return }
    }
  }

  private struct Upper: Reformer {
    func reform(_ input: String) throws -> String { input.uppercased() }
  }

  /// Starts a call with closures for progress and for the end.
  private typealias Form =
    @MainActor (
      APIClient, _ onEnd: @escaping @Sendable () -> Void, _ onProgress: @escaping @Sendable (TransferProgress) -> Void
    ) -> Void

  /// All methods that start a call with closures, except those with separate closures for success and failure.
  private static let forms: [Form] = [
    { $0.start(outcomeOf: WatchedRequest(), { [end = $1] _ in end() }, onProgress: $2) },
    { $0.start(outcomeOf: WatchedRequest(), on: executor(.detachedTasks), { [end = $1] _ in end() }, onProgress: $2) },
    { $0.start(WatchedRequest(), as: Upper(), onSuccess: { [end = $1] _ in end() }, onProgress: $2) },
    { $0.start(outcomeOf: WatchedRequest(), as: Upper(), { [end = $1] _ in end() }, onProgress: $2) },
    { client, end, note in
      client.start(
        outcomeOf: WatchedRequest(), as: Upper(), on: executor(.detachedTasks), { _ in end() }, onProgress: note)
    },
    { client, end, note in
      client.start(cachedThenFresh: WatchedRequest(), onCached: { _ in }, onEnd: { _ in end() }, onProgress: note)
    },
    { client, end, note in
      client.start(
        cachedThenFresh: WatchedRequest(), on: executor(.detachedTasks), onCached: { _ in }, onEnd: { _ in end() },
        onProgress: note)
    },
  ]

  @MainActor @Test(arguments: forms.indices) func `every closure form reports progress`(form: Int) async {
    let told = Recorded<Int64>()
    Self.forms[form](client(Watcher()), { told.append(-1) }, { told.append($0.bytes) })
    #expect(await eventually { told.all.last == -1 })
    #expect(told.all == Array(1...Int64(Chatty.steps)) + [-1])
  }

  @MainActor private class Page: CallDelegate {
    let told = Recorded<Int64>()
    func requestFinished(_ call: CallInfo, _ response: APIResponse<any Sendable>) { told.append(-1) }
    func requestFailed(_ call: CallInfo, _ error: APIError) { told.append(-2) }
  }

  /// Only the subclass receives progress.
  private final class ProgressPage: Page, CallProgressDelegate, CachedCallDelegate {
    func requestCached(_ call: CallInfo, _ response: APIResponse<any Sendable>) {}
    func requestProgressed(_ call: CallInfo, _ progress: TransferProgress) { told.append(progress.bytes) }
  }

  @MainActor @Test(arguments: [false, true]) func `a delegate may receive progress`(isTwofold: Bool) async {
    let (plain, page) = (Page(), ProgressPage())
    client(Watcher()).start(WatchedRequest(), delegate: plain)
    if isTwofold {
      client(Watcher()).start(cachedThenFresh: WatchedRequest(), delegate: page)
    } else {
      client(Watcher()).start(WatchedRequest(), delegate: page)
    }
    #expect(await eventually { plain.told.all == [-1] && page.told.all.last == -1 })
    #expect(page.told.all == Array(1...Int64(Chatty.steps)) + [-1])
  }

  /// Sends a body in three steps. The first response rejects the credential.
  private struct Rejecting: Transport {
    let calls = Recorded<String>()

    func send(_ exchange: Exchange) async throws -> HTTPResponse {
      for bytes in [0, 43, 50] as [Int64] {
        exchange.onProgress?(TransferProgress(.upload, bytes: bytes, total: 50))
      }
      calls.append("sent")
      let head = ResponseHead(status: calls.count == 1 ? 401 : 200)
      return HTTPResponse(head: head, body: Data("value".utf8), url: exchange.request.url)
    }
  }

  private struct Tokens: RefreshingProvider {
    let account: String? = "ada"

    func credential(for account: String?) async throws -> Credential? { .bearer("old") }
    func refresh(_ old: Credential, for account: String?) async throws -> Credential { .bearer("new") }
  }

  @Test func `body sent after a refresh restarts the count`() async {
    let told = Recorded<TransferProgress>()
    let ended = Latch()
    var configuration = ClientConfiguration(baseURL: "http://h.example")
    configuration.transport = .own(Rejecting())
    configuration.credentials = Tokens()
    APIClient(configuration).start(
      outcomeOf: WatchedRequest(), on: Self.executor(.inPlace), { _ in ended.open() }, onProgress: { told.append($0) })
    await ended.waitStubbornly()
    #expect(told.all.map(\.bytes) == [0, 43, 50, 0, 43, 50])
    #expect(told.all.map(\.isRestart) == [false, false, false, true, false, false])
  }

  @MainActor @Test func `send on main actor reports all progress`() async throws {
    for _ in 0..<rounds {
      let watcher = Watcher()
      _ = try await client(watcher).send(WatchedRequest())
      #expect(watcher.faults.all.isEmpty)
      #expect(watcher.steps.all == Array(1...Int64(Chatty.steps)))
    }
  }

  @concurrent @Test func `send elsewhere reports all progress`() async throws {
    for _ in 0..<rounds {
      let watcher = Watcher()
      _ = try await client(watcher).send(WatchedRequest())
      #expect(watcher.faults.all.isEmpty)
      #expect(watcher.steps.all == Array(1...Int64(Chatty.steps)))
    }
  }
}
