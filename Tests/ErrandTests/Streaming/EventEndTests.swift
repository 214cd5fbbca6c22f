import Errand
@testable import ErrandCore
import ErrandTesting
import TestSupport
import Testing

/// How a loop over events ends, and how the next loop continues.
struct EventEndTests {
  private struct Feed: APIRequest {
    typealias Response = Nothing
    var path: Path { "/feed" }
  }

  private static func events(_ text: String) -> LoopbackAnswer {
    .status(200, headers: ["Content-Type": "text/event-stream"], body: text)
  }

  /// The data is too long in one line, or in all lines together.
  @Test(arguments: [
    "data: " + String(repeating: "x", count: 107) + "\n\n", String(repeating: "data: 0123456789\n", count: 11) + "\n",
  ])
  func `too long event names the caller's limit`(text: String) async throws {
    let server = try LoopbackServer { _ in Self.events(text) }
    let client = APIClient(baseURL: server.url)
    let error = await #expect(throws: APIError.self) {
      for try await _ in client.events(of: Feed(), reconnecting: .never, limit: 100) {}
    }
    #expect(error?.code == .tooLarge)
    #expect(
      error?.message == "The data of an event, or a line of the event stream, has more than 100 bytes; raise `limit` of"
        + " `events(of:)` to allow more bytes.")
  }

  @Test func `ended stream is not cancelled`() async throws {
    let server = try LoopbackServer { request in request.number == 1 ? Self.events("data: a\n\n") : .status(204) }
    let client = APIClient(baseURL: server.url)
    for rule in [ReconnectRule.never, .standard] {
      var events = client.events(of: Feed(), reconnecting: rule).makeAsyncIterator()
      while try await events.next() != nil {}
      #expect(await eventually { client.registry.running.isEmpty })
      #expect(client.cancelAll() == 0)
      withExtendedLifetime(events) {}
    }
    #expect(server.requests.count == 2)
  }

  private struct Price: Decodable, Sendable { let cents: Int }

  /// The last identifier that the loop received, and its error.
  private func listen(to client: APIClient, after lastID: String?) async -> (lastID: String?, error: APIError?) {
    var options = CallOptions()
    if let lastID { options.headers = ["Last-Event-ID": lastID] }
    var last = lastID
    do throws(APIError) {
      for try await event in client.events(of: Feed(), options: options, reconnecting: .never) {
        if !event.id.isEmpty { last = event.id }
        _ = try event.value(as: Price.self)
      }
      return (last, nil)
    } catch {
      return (last, error)
    }
  }

  @Test func `events without an identifier do not replace the stored one`() async throws {
    let server = try LoopbackServer { _ in Self.events("data: {\"cents\": 5}\n\n") }
    let client = APIClient(baseURL: server.url)
    let first = await listen(to: client, after: "1")
    #expect(first.lastID == "1" && first.error == nil)
    #expect(server.requests.map { $0.headers["Last-Event-ID"] } == ["1"])
  }

  @Test func `next loop resumes after an undecodable event`() async throws {
    let server = try LoopbackServer()
    server.enqueue(
      Self.events("id: 1\ndata: {\"cents\": 5}\n\nid: 2\ndata: {}\n\nid: 3\ndata: {}\n\n"),
      Self.events("id: 3\ndata: {\"cents\": 6}\n\n"))
    let client = APIClient(baseURL: server.url)
    let first = await listen(to: client, after: nil)
    #expect(first.lastID == "2" && first.error?.stage == .decode && first.error?.cause is JSONDecodingError)
    let second = await listen(to: client, after: first.lastID)
    #expect(second.lastID == "3" && second.error == nil)
    #expect(server.requests.map { $0.headers["Last-Event-ID"] } == [nil, "2"])
  }
}
