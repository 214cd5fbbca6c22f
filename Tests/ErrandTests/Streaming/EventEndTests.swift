import Errand
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
}
