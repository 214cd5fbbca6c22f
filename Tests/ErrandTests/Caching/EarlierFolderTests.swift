import Errand
import ErrandCache
import ErrandTesting
import Foundation
import Testing
import TestSupport

/// Cache folders that URL filters lead to, over more than one run of a program.
struct EarlierFolderTests {
  private struct Get: APIRequest {
    typealias Response = String
    var path: Path { "/me" }
    var cache: CachePolicy { .lifetime(.seconds(600)) }
  }

  private struct Ada: CredentialProvider {
    var account: String? { "ada" }
    func credential(for account: String?) async throws -> Credential? { .bearer("a") }
  }

  private static func cache(_ folder: URL, naming folders: [URL]) -> ResponseCache {
    ResponseCache(
      folder: folder, filters: [CacheFolderFilter { folder, _ in folder.appending(path: "own") }], folders: folders)
  }

  private static func client(_ transport: ScriptedTransport, _ cache: ResponseCache) -> APIClient {
    var configuration = ClientConfiguration(baseURL: "http://h.example")
    configuration.transport = .own(transport)
    configuration.credentials = Ada()
    // A call waits at most 250 ms for the folder to open. With a clock that stands still, a slow machine does not matter.
    configuration.timers = ManualClock()
    configuration.cache.store = .own(cache)
    return APIClient(configuration)
  }

  @Test(arguments: [true, false]) func `logout reaches named earlier folders`(isNamed: Bool) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "folders-\(UUID().uuidString)")
    defer { discardFolder(folder) }
    let transport = ScriptedTransport { _ in .text("ada's") }
    let earlier = Self.cache(folder, naming: [])
    _ = try await Self.client(transport, earlier).send(Get())
    await earlier.flush()

    let later = Self.cache(folder, naming: isNamed ? [folder.appending(path: "own")] : [])
    #expect(await later.entries().count == (isNamed ? 1 : 0))
    await later.removeAll(account: "ada")
    #expect(await later.removals(patience: .seconds(30)) == .done)
    await later.flush()
    let client = Self.client(transport, Self.cache(folder, naming: []))
    _ = try await client.send(Get())
    #expect(transport.requests.count == (isNamed ? 2 : 1), "a response in an unnamed folder stays")
  }

  @Test(arguments: [URL.DirectoryHint.isDirectory, .notDirectory])
  func `folder is identified in any notation`(hint: URL.DirectoryHint) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "folders-\(UUID().uuidString)")
    defer { discardFolder(folder) }
    let cache = Self.cache(folder, naming: [folder.appending(path: "own", directoryHint: hint)])
    _ = try await Self.client(ScriptedTransport { _ in .text("ada's") }, cache).send(Get())
    await cache.flush()
    #expect(await cache.entries().count == 1)
  }
}
