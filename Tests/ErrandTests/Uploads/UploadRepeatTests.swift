import Errand
import ErrandTesting
import Foundation
import TestSupport
import Testing
import TransportChecks

struct UploadRepeatTests {
  private static func redirecting(_ status: Int, _ reception: LoopbackReception = .automatic) throws -> LoopbackServer {
    var options = LoopbackOptions()
    options.reception = { $0.path == "/up" ? reception : .automatic }
    return try LoopbackServer(options) { $0.path == "/up" ? .redirect(to: "/there", status: status) : .ok("taken") }
  }

  @Test(arguments: [307, 308])
  func `redirect resends a file`(status: Int) async throws {
    let folder = try UploadFolder()
    let bytes = UploadFolder.bytes(100_000)
    let file = try folder.file("f", bytes)
    let server = try Self.redirecting(status)
    let client = APIClient(baseURL: server.url)
    let steps = [PieceSource.Step.bytes([1, 2, 3])]
    let replayable = PieceSource.body(steps, isReplayable: true)
    for body in [RequestBody.file(file), .multipart([.text("a", "b"), .file("f", file)]), replayable] {
      #expect(try await client.send(Upload(body)) == "taken")
      let seen = server.requests.suffix(2)
      #expect(seen.map(\.path) == ["/up", "/there"] && seen.first?.body == seen.last?.body)
      #expect(seen.last?.body.isEmpty == false)
    }
  }

  @Test func `retry resends a file`() async throws {
    let folder = try UploadFolder()
    let file = try folder.file("f", UploadFolder.bytes(100_000))
    for body in [RequestBody.file(file), .multipart([.text("a", "b"), .file("f", file)])] {
      let server = try LoopbackServer { $0.number == 1 ? .status(503) : .ok("taken") }
      var configuration = ClientConfiguration(baseURL: server.url)
      configuration.retries = RetryPolicy(busyDelay: .zero)
      let outcome = await APIClient(configuration).outcome(of: Upload(body))
      #expect(outcome.value == "taken" && outcome.metrics.retries.map(\.reason) == [.status(503)])
      let seen = server.requests
      #expect(seen.count == 2 && seen.first?.body == seen.last?.body)
      #expect(seen.last.map { $0.bodyLength >= 100_000 } == true)
    }
  }

  @Test func `consumed stream is not resent`() async throws {
    let server = try Self.redirecting(307)
    let client = APIClient(baseURL: server.url)
    for body in [PieceSource.body([.bytes([1])]), .multipart([.body("s", PieceSource.streamed([.bytes([1])]))])] {
      let error = try await failure(client, Upload(body))
      #expect(error.stage == .redirect && error.code == .redirectRefused)
      for word in ["307", "read only once", "use data or a file"] {
        #expect(error.message.contains(word), "\(error)")
      }
    }
    #expect(server.requests.count == 2)
  }

  @Test func `redirect to GET needs no body`() async throws {
    let server = try Self.redirecting(303)
    #expect(try await APIClient(baseURL: server.url).send(Upload(PieceSource.body([.bytes([1])]))) == "taken")
    #expect(server.requests.last?.method == "GET" && server.requests.last?.body.isEmpty == true)
  }

  @Test func `unread stream follows a redirect`() async throws {
    let holds = try await withinTheSecond {
      let server = try Self.redirecting(307, .never)
      let log = PieceSource.Log()
      let body = PieceSource.body([.bytes([1, 2])], log: log).expectingContinue()
      let outcome = await APIClient(baseURL: server.url).outcome(of: Upload(body))
      return outcome.value == "taken" && server.requests.map(\.path) == ["/up", "/there"]
        && server.requests.last?.body == [1, 2] && log.opened == 1
    }
    #expect(holds)
  }

  @Test func `stream belongs to one call`() async throws {
    let server = try LoopbackServer { _ in .ok("taken") }
    let client = APIClient(baseURL: server.url)
    for body in [PieceSource.body([.bytes([1])]), .multipart([.body("s", PieceSource.streamed([.bytes([1])]))])] {
      let upload = Upload(body)
      #expect(try await client.send(upload) == "taken")
      let error = try await failure(client, upload)
      #expect(error.stage == .build && error.code == .invalidBody && error.message.contains("only once"), "\(error)")
    }
    #expect(server.requests.count == 2)
  }

  @Test func `closed connection does not consume the body`() async throws {
    let folder = try UploadFolder()
    let file = try folder.file("f", UploadFolder.bytes(50_000))
    let log = PieceSource.Log()
    for body in [RequestBody.file(file), PieceSource.body([.bytes([1])], log: log)] {
      let gate = Gate()
      let server = try LoopbackServer { $0.path == "/up" ? .ok("taken") : .ok("warm").closed(at: gate) }
      let client = APIClient(baseURL: server.url)
      _ = try await client.send(Upload(nil) { $0.path = "/warm" })
      gate.open()
      try await server.wait { $0.openConnectionCount == 0 }
      #expect(try await client.send(Upload(body)) == "taken")
      #expect(server.connectionCount == 2)
    }
    #expect(log.opened == 1)
  }
}
