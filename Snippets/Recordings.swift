// Recording a server's responses, and testing against the file.
import Errand
import ErrandEngine
import ErrandTesting
import Foundation
import Testing

struct GetUser: APIRequest {
  let id: Int
  var path: Path { "/users/\(id)" }
  struct Response: Decodable, Sendable { let nick: String }
}

let folder = FileManager.default.temporaryDirectory.appendingPathComponent("recordings-\(UUID().uuidString)")
let file = folder.appendingPathComponent("users.json")
let server = try LoopbackServer { _ in .json(#"{"nick":"Ada","email":"ada@example.com"}"#) }
let address = server.url

// snippet.record
func record() async throws {
  let recorder = RecordingTransport(EngineTransport(), mask: RecordingMask(paths: ["email"]))
  var configuration = ClientConfiguration(baseURL: address)
  configuration.transport = .own(recorder)
  _ = try await APIClient(configuration).send(GetUser(id: 7))
  try recorder.save(to: file)
}

// snippet.replay
@Test func `a user is read without a server`() async throws {
  let replay = ReplayTransport(try Recording(contentsOf: file))
  var configuration = ClientConfiguration(baseURL: address)
  configuration.transport = .own(replay)
  let client = APIClient(configuration)

  #expect(try await client.send(GetUser(id: 7)).nick == "Ada")
  #expect(await client.outcome(of: GetUser(id: 8)).error?.transportKind == .notRecorded)
  #expect(replay.unused.isEmpty)
}

// snippet.edit
@Test func `the same server without nicks`() async throws {
  var recording = try Recording(contentsOf: file)
  recording.exchanges[0].answer = .json(#"{"nick":null}"#)
  var configuration = ClientConfiguration(baseURL: "https://other.example")
  configuration.transport = .own(ReplayTransport(recording, matching: [.method, .path]))
  #expect(await APIClient(configuration).outcome(of: GetUser(id: 7)).error?.stage == .decode)
}

// snippet.archive
@Test func `the shop answers from an archive`() async throws {
  let replay = ReplayTransport(try Recording(archive: "Fixtures/shop.har"), afterLast: .refused)
  var configuration = ClientConfiguration(baseURL: "https://shop.example")
  configuration.transport = .own(replay)
  #expect(try await APIClient(configuration).send(GetUser(id: 7)).nick == "Ada")
}

// snippet.differences
@Test func `the types still fit the recording`() async throws {
  let recording = try Recording(contentsOf: file)
  let differences = try await recording.differences(from: APIClient(baseURL: address), GetUser(id: 7))
  #expect(differences.all.map(\.path) == ["email"])  // "$.email: the type has no property for this member (a string)"
  #expect(differences.uncompared.isEmpty)
}

// snippet.profile
@Test func `a user comes over EDGE`() async throws {
  let clock = ManualClock()
  var configuration = ClientConfiguration(baseURL: address)
  configuration.transport = .own(ProfiledTransport(ReplayTransport(try Recording(contentsOf: file)), .edge))
  configuration.timers = clock
  let client = APIClient(configuration)

  async let user = client.send(GetUser(id: 7))
  #expect(await clock.waitForTimers(2))  // the deadline of the call, and the network profile
  clock.advance(by: .seconds(2))  // latency and jitter of EDGE, at once
  #expect(await clock.waitForTimers(2))
  clock.advance(by: .seconds(1))  // the body
  #expect(try await user.nick == "Ada")
}
// snippet.end

try await record()
server.stop()
try await `a user is read without a server`()
try await `the same server without nicks`()
try await `the types still fit the recording`()
try await `a user comes over EDGE`()
try FileManager.default.removeItem(at: folder)
print("all held")
