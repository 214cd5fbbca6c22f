@testable import ErrandCore
import Dispatch
import Errand
import ErrandTesting
import Foundation
import TestSupport
import Testing

/// Cancels of an event stream between two connections. The server ends a stream that connects again.
struct EventCancelTests {
  private struct Feed: APIRequest {
    typealias Response = Nothing
    var path: Path { "/feed" }
  }

  private let clock = ManualClock()

  private func server() throws -> LoopbackServer {
    let server = try LoopbackServer()
    server.enqueue(
      .status(200, headers: ["Content-Type": "text/event-stream"], body: "data: a\n\n"), .status(204), .status(204))
    return server
  }

  private func client(_ server: LoopbackServer) -> APIClient {
    var configuration = ClientConfiguration(baseURL: server.url)
    configuration.timers = clock
    return APIClient(configuration)
  }

  /// Waits until the stream waits for its next connection.
  private func pauses(_ client: APIClient) async -> Bool {
    await eventually { client.registry.running.allSatisfy(\.isPause) && clock.pending == 1 }
  }

  @MainActor @Test func `cancel at the end of the delay counts`() async throws {
    let server = try server()
    let client = client(server)
    let listening = Task { @MainActor in
      for try await _ in client.events(of: Feed()) {}
    }
    #expect(await pauses(client))
    // The loop cannot continue before this function suspends.
    clock.advance(by: .seconds(10))
    #expect(client.cancelAll() == 1)
    let error = await #expect(throws: APIError.self) { try await listening.value }
    #expect(error?.isCancelled == true && server.requests.count == 1)
    #expect(client.registry.running.isEmpty)
  }

  /// Runs code when the client asks for the account.
  private struct Asked: CredentialProvider {
    let actions = Recorded<@Sendable () -> Void>()

    var account: String? {
      actions.takeFirst()?()
      return nil
    }

    func credential(for account: String?) async throws -> Credential? { nil }
  }

  @Test func `cancel before the next call counts`() async throws {
    let server = try server()
    let client = client(server)
    let asked = Asked()
    client.configure { $0.credentials = asked }
    let listening = Task {
      for try await _ in client.events(of: Feed()) {}
    }
    #expect(await pauses(client))
    let cancelled = Recorded<Int>()
    asked.actions.append { cancelled.append(client.cancelAll()) }
    #expect(
      await eventually {
        clock.advance(by: .seconds(10))
        return cancelled.count == 1
      })
    let error = await #expect(throws: APIError.self) { try await listening.value }
    #expect(error?.isCancelled == true && server.requests.count == 1 && cancelled.all == [1])
    #expect(client.registry.running.isEmpty)
  }

  /// Cancels all calls while the end of the first connection is delivered, on the same thread or on another thread.
  private struct Cancelling: Accessory {
    let isElsewhere: Bool
    let cancelled = Recorded<Int>()
    let actions = Recorded<@Sendable () -> Int>()

    func willStop(_ call: CallInfo, _ outcome: Outcome<Void>) {
      guard let cancel = actions.takeFirst() else { return }
      guard isElsewhere else { return cancelled.append(cancel()) }
      let done = DispatchSemaphore(value: 0)
      Thread.detachNewThread {
        cancelled.append(cancel())
        done.signal()
      }
      done.wait()
    }
  }

  @Test(arguments: [true, false])
  func `cancel during the delivery counts once`(isElsewhere: Bool) async throws {
    let server = try server()
    let client = client(server)
    let accessory = Cancelling(isElsewhere: isElsewhere)
    accessory.actions.append { client.cancelAll() }
    client.configure { $0.accessories = [accessory] }
    let listening = Task {
      for try await _ in client.events(of: Feed()) {}
    }
    // Without the cancel, the stream would wait for its next connection.
    let turning = Task { @concurrent in
      while !Task.isCancelled {
        if clock.pending > 0 { clock.advance(by: .seconds(10)) }
        await Task.yield()
      }
    }
    defer { turning.cancel() }
    let error = await #expect(throws: APIError.self) { try await listening.value }
    #expect(error?.isCancelled == true && server.requests.count == 1 && accessory.cancelled.all == [1])
    #expect(await eventually { client.registry.running.isEmpty })
  }
}
