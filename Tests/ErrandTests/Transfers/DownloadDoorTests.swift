import Errand
import ErrandCache
import ErrandSupport
import ErrandTesting
import Foundation
import Testing

/// Every method that starts a call can download, without the cache and without joining.
struct DownloadDoorTests {
  private final class Noter: CallDelegate {
    let done = Latch()
    func requestFinished(_ call: CallInfo, _ response: APIResponse<any Sendable>) { done.open() }
    func requestFailed(_ call: CallInfo, _ error: APIError) { done.open() }
  }

  private static func request(_ fixture: DownloadFixture, _ name: String) -> FileDownload {
    FileDownload(fixture.server.url, .to(fixture.place(name)))
  }

  private static func isRight(_ fixture: DownloadFixture, _ name: String) -> Bool {
    (try? Data(contentsOf: fixture.place(name))).map {
      $0.count == fixture.resource.size && fixture.resource.has($0, at: 0)
    }
      ?? false
  }

  @Test func `downloaded URL is no template`() throws {
    let fixture = try DownloadFixture()
    let request = Self.request(fixture, "a")
    #expect(request.path.text == fixture.server.url && request.path.template == nil)
  }

  @Test func `send and outcome return a download`() async throws {
    let fixture = try DownloadFixture()
    let file = try await fixture.client.send(Self.request(fixture, "a"))
    #expect(file.bytes == 3_000_000 && Self.isRight(fixture, "a"))
    let response = try await fixture.client.response(Self.request(fixture, "b"))
    #expect(response.raw.body.isEmpty && Self.isRight(fixture, "b"))
  }

  @Test func `closures start a download`() async throws {
    let fixture = try DownloadFixture()
    let file =
      await withCheckedContinuation { continuation in
        fixture.client.start(
          Self.request(fixture, "a"), on: .inPlace, onSuccess: { continuation.resume(returning: $0) },
          onFailure: { _ in continuation.resume(returning: nil) })
      } as DownloadedFile?
    #expect(file?.bytes == 3_000_000 && Self.isRight(fixture, "a"))
  }

  @Test func `batch runs downloads`() async throws {
    let fixture = try DownloadFixture()
    let names = ["a", "b", "c", "d", "e"]
    let results = await fixture.client.outcomes(of: names.map { Self.request(fixture, $0) })
    #expect(results.allSatisfy { (try? $0.get())?.bytes == 3_000_000 })
    #expect(names.allSatisfy { Self.isRight(fixture, $0) } && fixture.names == names)
  }

  @Test func `chain runs downloads`() async throws {
    let fixture = try DownloadFixture()
    let outcome = await fixture.client.outcome(
      of: Chain { chain in
        let first = try await chain.send(Self.request(fixture, "a"))
        return try await chain.send(Self.request(fixture, first.url.lastPathComponent + "b"))
      })
    #expect(outcome.value?.url.lastPathComponent == "ab")
    #expect(Self.isRight(fixture, "a") && Self.isRight(fixture, "ab"))
  }

  @Test func `pausable handle returns a download`() async throws {
    let fixture = try DownloadFixture()
    let file = try await fixture.client.download(Self.request(fixture, "a")).value()
    #expect(file.bytes == 3_000_000 && Self.isRight(fixture, "a"))
  }

  @Test func `cache does not store downloads`() async throws {
    let cache = ResponseCache(store: MemoryStore())
    var configuration = ClientConfiguration(baseURL: "")
    configuration.cache.store = .own(cache)
    configuration.cache.policy = .lifetime(.seconds(600))
    let fixture = try DownloadFixture(configuration: configuration) {
      $1.fields["Cache-Control"] = "max-age=600"
    }
    _ = try await fixture.send().result.get()
    let outcome = await fixture.send()
    #expect(outcome.origin == .network && fixture.ranges == [nil, nil])
    #expect(fixture.isRight())
  }

  @Test func `downloads are not joined`() async throws {
    let gate = Gate()
    let fixture = try DownloadFixture { $1.fault = .stall(after: 1_000_000, until: gate) }
    async let first = fixture.client.send(Self.request(fixture, "a"))
    async let second = fixture.client.send(Self.request(fixture, "b"))
    try await gate.reached(times: 2)
    gate.open()
    _ = try await (first, second)
    #expect(fixture.ranges == [nil, nil] && Self.isRight(fixture, "a") && Self.isRight(fixture, "b"))
  }

  @MainActor @Test func `delegate receives a download`() async throws {
    let fixture = try DownloadFixture()
    let noter = Noter()
    fixture.client.start(Self.request(fixture, "a"), delegate: noter)
    await noter.done.waitStubbornly()
    #expect(Self.isRight(fixture, "a"))
  }
}
