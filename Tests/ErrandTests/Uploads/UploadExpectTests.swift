import Errand
import ErrandTesting
import Foundation
import TestSupport
import Testing
import TransportChecks

struct UploadExpectTests {
  private static func bodies(_ folder: UploadFolder) throws -> [RequestBody] {
    let file = try folder.file("f", UploadFolder.bytes(100_000))
    return [.file(file), .bytes(UploadFolder.bytes(100_000)), .text("short"), PieceSource.body([.bytes([1, 2])])]
  }

  @Test func `body is sent after 100 Continue`() async throws {
    let server = try LoopbackServer { _ in .ok("taken") }
    let client = APIClient(baseURL: server.url)
    let folder = try UploadFolder()
    for body in try Self.bodies(folder) {
      #expect(try await client.send(Upload(body.expectingContinue())) == "taken")
      let seen = try #require(server.requests.last)
      #expect(seen.headers["Expect"] == "100-continue" && !seen.body.isEmpty, "\(seen.bodyLength)")
    }
    #expect(server.connectionCount == 1)
  }

  @Test func `body is not read before 100 Continue`() async throws {
    let holds = try await withinTheSecond {
      let gate = Gate()
      let server = try LoopbackServer(.uploads(.held(gate))) { _ in .ok("taken") }
      let log = PieceSource.Log()
      let client = APIClient(baseURL: server.url)
      let body = PieceSource.body([.bytes([1, 2])], log: log).expectingContinue()
      async let answer = client.send(Upload(body))
      try await gate.reached()
      let opened = log.opened
      gate.open()
      #expect(try await answer == "taken")
      #expect(server.requests.first?.body == [1, 2])
      return opened == 0
    }
    #expect(holds)
  }

  @Test func `missing 100 Continue costs a second`() async throws {
    let server = try LoopbackServer(.uploads(.withoutContinue)) { _ in .ok("taken") }
    let start = ContinuousClock.now
    let body = RequestBody.text("x").expectingContinue()
    #expect(try await APIClient(baseURL: server.url).send(Upload(body)) == "taken")
    #expect(start.duration(to: .now) > .milliseconds(900))
  }

  @Test func `417 repeats without Expect`() async throws {
    var options = LoopbackOptions()
    options.reception = { $0.headers["Expect"] == nil ? .automatic : .afterAnswer }
    let server = try LoopbackServer(options) { $0.headers["Expect"] == nil ? .ok("taken") : .status(417, body: "no") }
    let client = APIClient(baseURL: server.url)
    let folder = try UploadFolder()
    for body in try Self.bodies(folder) {
      let sink = AwkwardSink()
      _ = try await client.response(Upload(body.expectingContinue()), options: CallOptions(bodySink: sink))
      #expect(sink.bytes == 5)
      let seen = server.requests.suffix(2)
      #expect(seen.map { $0.headers["Expect"] } == ["100-continue", nil])
      #expect(seen.last?.isComplete == true && seen.last?.body.isEmpty == false)
    }
  }

  @Test func `error status spares the body`() async throws {
    let holds = try await withinTheSecond {
      let server = try LoopbackServer(.uploads(.never)) { _ in .status(401, body: "who?") }
      let log = PieceSource.Log()
      let body = PieceSource.body([.bytes([1])], log: log).expectingContinue()
      let error = try await failure(APIClient(baseURL: server.url), Upload(body))
      #expect(error.status == 401 && error.response?.body == Data("who?".utf8))
      return log.opened == 0
    }
    #expect(holds)
  }

  @Test func `Expect is off by default`() async throws {
    let server = try LoopbackServer { _ in .ok("taken") }
    let client = APIClient(baseURL: server.url)
    let folder = try UploadFolder()
    for body in try Self.bodies(folder) {
      #expect(try await client.send(Upload(body)) == "taken")
      #expect(server.requests.last?.headers["Expect"] == nil)
    }
  }
}
