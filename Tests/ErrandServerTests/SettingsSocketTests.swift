import Errand
import ErrandTesting
import Foundation
import Testing
import TestSupport

/// Clients that are made from a file and from variables, over real sockets.
struct SettingsSocketTests {
  private struct Ask: APIRequest {
    typealias Response = String
    var path: Path { "/ask" }
  }

  @Test func `client from a file retries`() async throws {
    let server = try LoopbackServer { $0.number == 1 ? .status(503) : .ok("done") }
    let file = FileManager.default.temporaryDirectory.appending(path: "client-\(UUID()).env")
    defer { try? FileManager.default.removeItem(at: file) }
    let text =
      "# The server of the test\nERRAND_BASE_URL=\(server.url)\nERRAND_RETRIES=1\nERRAND_USER_AGENT=\"Test 1\"\n"
    try Data(text.utf8).write(to: file)
    let client = APIClient(try ClientConfiguration(reading: .file(file.path), .values(["ERRAND_RECORD": "5"])))
    #expect(try await client.send(Ask()) == "done")
    #expect(server.requests.count == 2)
    #expect(server.requests.first?.headers["User-Agent"] == "Test 1")
    #expect(client.flightRecord.calls.count == 1)
  }

  @Test func `environment without a base URL is an error`() {
    #expect(throws: SettingsError.self) { try ClientConfiguration(reading: .environment(prefix: "ERRAND_TEST_NONE_")) }
  }

  #if os(Linux)
    @Test func `requests go to the proxy`() async throws {
      let proxy = try LoopbackServer { request in
        request.headers["Proxy-Authorization"] == nil
          ? .status(407, fields: ["Proxy-Authenticate": "Basic realm=\"a\""]) : .ok("by proxy to \(request.target)")
      }
      let client = APIClient(
        try ClientConfiguration(
          reading: .values([
            "ERRAND_BASE_URL": "http://api.example", "ERRAND_PROXY": proxy.url, "ERRAND_PROXY_USER": "ada",
            "ERRAND_PROXY_PASSWORD": "secret",
          ])))
      #expect(try await client.send(Ask()) == "by proxy to http://api.example/ask")
      let credentials = Data("ada:secret".utf8).base64EncodedString()
      #expect(proxy.requests.last?.headers["Proxy-Authorization"] == "Basic \(credentials)")
    }
  #endif
}
