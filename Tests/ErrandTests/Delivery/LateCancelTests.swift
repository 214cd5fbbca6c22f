import Errand
import ErrandTesting
import Foundation
import TestSupport
import Testing

/// A cancel in a callback that runs before the end: the call does not succeed.
struct LateCancelTests {
  private struct Get: APIRequest {
    typealias Response = String
    var path: Path { "/a" }
  }

  /// Cancels all calls in `willStop` of a call or a group.
  private struct Canceller: Accessory {
    let client: APIClient
    let seen: Recorded<String>

    func willStop(_ call: CallInfo, _ outcome: Outcome<Void>) {
      seen.append(outcome.error == nil ? "success" : "failure")
      client.cancelAll()
    }

    func willStop(_ group: GroupInfo, _ outcome: GroupOutcome<Void>) {
      seen.append(outcome.error == nil ? "success" : "failure")
      client.cancelAll()
    }

    func didStop(_ call: CallInfo, _ outcome: Outcome<Void>) {
      seen.append(outcome.error.map { "\($0.code)" } ?? "success")
    }
    func didStop(_ group: GroupInfo, _ outcome: GroupOutcome<Void>) {
      seen.append(outcome.error.map { "\($0.code)" } ?? "success")
    }
  }

  private let server: LoopbackServer
  private let client: APIClient
  private let seen = Recorded<String>()

  init() throws {
    server = try LoopbackServer { _ in .ok("value") }
    client = APIClient(baseURL: server.url)
  }

  private var options: CallOptions {
    var options = CallOptions()
    options.accessories = [Canceller(client: client, seen: seen)]
    return options
  }

  @Test func `cancel in willStop fails send`() async {
    let outcome = await client.outcome(of: Get(), options: options)
    #expect(outcome.error?.code == .cancelled)
    #expect(seen.all == ["success", "cancelled"])
  }

  @Test func `later accessory sees the cancel`() async {
    var options = options
    options.accessories += options.accessories
    _ = await client.outcome(of: Get(), options: options)
    #expect(seen.all == ["success", "failure", "cancelled", "cancelled"])
  }

  @Test func `later accessory of a group sees the cancel`() async {
    let canceller = Canceller(client: client, seen: seen)
    let options = GroupOptions(accessories: [canceller, canceller])
    _ = await client.outcome(of: Batch([Get()]), options: options)
    #expect(seen.all == ["success", "failure", "cancelled", "cancelled"])
  }

  @Test func `hook after willStop sees the cancel`() async {
    var options = options
    options.afterCompletion = { [seen] in seen.append($0.error.map { "hook \($0.code)" } ?? "hook success") }
    _ = await client.outcome(of: Get(), options: options)
    #expect(seen.all == ["success", "hook cancelled", "cancelled"])
  }

  @Test func `cancel in the hook counts too`() async {
    var options = CallOptions()
    options.afterCompletion = { [client] _ in _ = client.cancelAll() }
    #expect(await client.outcome(of: Get(), options: options).error?.code == .cancelled)
  }

  @Test func `cancel in the request's hook counts too`() async {
    struct Hooked: APIRequest {
      typealias Response = String
      let hook: @Sendable () -> Void
      var path: Path { "/a" }
      var delivery: Delivery<String> { Delivery(afterCompletion: { [hook] _ in hook() }) }
    }
    let request = Hooked { [client] in _ = client.cancelAll() }
    #expect(await client.outcome(of: request).error?.code == .cancelled)
  }

  @Test func `request's first hook sees the cancel`() async {
    struct Hooked: APIRequest {
      typealias Response = String
      let seen: Recorded<String>
      var path: Path { "/a" }
      var delivery: Delivery<String> {
        Delivery(beforeCompletion: { [seen] in seen.append($0.error.map { "\($0.code)" } ?? "success") })
      }
    }
    var options = CallOptions()
    options.beforeCompletion = { [client] _ in _ = client.cancelAll() }
    #expect(await client.outcome(of: Hooked(seen: seen), options: options).error?.code == .cancelled)
    #expect(seen.all == ["cancelled"])
  }

  @Test func `closures receive only the cancel`() async {
    let ended = Latch()
    client.start(outcomeOf: Get(), on: .inPlace, options: options) { [seen] in
      seen.append($0.error == nil ? "closure success" : "closure failure")
      ended.open()
    }
    await ended.waitStubbornly()
    #expect(await eventually { seen.count == 3 })
    #expect(seen.all == ["success", "closure failure", "cancelled"])
  }

  @Test func `cancel in willStop fails a batch`() async {
    var options = GroupOptions()
    options.accessories = [Canceller(client: client, seen: seen)]
    do {
      let values = try await client.batch([Get(), Get()], options: options)
      Issue.record("a success follows the cancel: \(values)")
    } catch {
      #expect(error.code == .cancelled && seen.all == ["success", "cancelled"])
    }
  }

  @Test func `cancel in willStop fails a download`() async throws {
    let folder = URL.temporaryDirectory.appending(path: "errand-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let request = FileDownload(server.url + "/a", .to(folder.appending(path: "a")))
    let outcome = await client.outcome(of: request, options: options)
    #expect(outcome.error?.code == .cancelled && seen.all == ["success", "cancelled"], "\(seen.all)")
  }

  @Test func `cancel in willStop fails a chain`() async {
    var options = GroupOptions()
    options.accessories = [Canceller(client: client, seen: seen)]
    do {
      let value = try await client.chain(options: options) { chain throws(APIError) in try await chain.send(Get()) }
      Issue.record("a success follows the cancel: \(value)")
    } catch {
      #expect(error.code == .cancelled && seen.all == ["success", "cancelled"])
    }
  }

  @Test func `cancel in willStop fails a stream`() async {
    do {
      for try await _ in try await client.stream(Get(), options: options) {}
      Issue.record("a success follows the cancel")
    } catch {
      #expect(error.code == .cancelled)
    }
    // The loop ends when it receives the error; accessories are notified of the stop afterwards.
    #expect(await eventually { seen.count == 2 })
    #expect(seen.all == ["success", "cancelled"])
  }

  @MainActor @Test func `cancel in willStop fails a manager`() async {
    final class Screen: APIManagerDelegate {
      let told = Recorded<String>()
      func managerFinished(_ manager: any APIManaging) { told.append("success") }
      func managerFailed(_ manager: any APIManaging) { told.append("\(manager.lastError?.code.rawValue ?? "none")") }
    }
    let screen = Screen()
    let manager = APIManager(client, options: options) { Get() }
    manager.delegate = screen
    manager.start()
    #expect(await eventually { screen.told.count == 1 })
    #expect(screen.told.all == ["cancelled"])
  }
}
