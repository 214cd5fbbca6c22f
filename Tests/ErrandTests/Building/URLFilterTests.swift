import Errand
import ErrandTesting
import Testing

struct URLFilterTests {
  static let version = URLFilter("version") { target, _ in target.arguments["version"] = "1.2.3" }

  @Test func `filter adds an argument`() async throws {
    let bench = ScriptedClient { $0.additions.filters = [Self.version] }
    #expect(try await bench.url(Sending(path: "/a", arguments: ["q": 1])) == "http://h.example/a?q=1&version=1.2.3")
  }

  @Test func `filters run in order`() async throws {
    let bench = ScriptedClient {
      $0.additions.filters = ["a", "b", "c"].map { name in URLFilter(name) { target, _ in target.path += "/\(name)" } }
    }
    #expect(try await bench.url(Sending(path: "/p")) == "http://h.example/p/a/b/c")
  }

  @Test func `filter can be removed`() async throws {
    let bench = ScriptedClient { $0.additions.filters = [Self.version] }
    bench.client.configure { $0.additions.filters.removeAll { $0.name == "version" } }
    #expect(try await bench.url(Sending(path: "/a")) == "http://h.example/a")
  }

  @Test func `absolute URLs are filtered too`() async throws {
    let bench = ScriptedClient { $0.additions.filters = [Self.version] }
    #expect(try await bench.url(Sending(path: "https://o/a?b=1#f")) == "https://o/a?b=1&version=1.2.3")
  }

  @Test func `filter changes server and path`() async throws {
    let bench = ScriptedClient {
      $0.additions.filters = [
        URLFilter("move") { target, request in
          guard request is Sending else { return }
          target.base = "https://moved.example/v9"
          target.path = target.path.replacing("/old/", with: "/new/")
        }
      ]
    }
    #expect(try await bench.url(Sending(path: "/old/a")) == "https://moved.example/v9/new/a")
  }

  @Test func `filters do not see body arguments`() async throws {
    let bench = ScriptedClient { $0.additions.filters = [Self.version] }
    let sent = try await bench.sent(Sending(path: "/a", method: .post, arguments: ["q": 1]))
    #expect(sent?.url.string == "http://h.example/a?version=1.2.3")
    #expect(sent?.text == "q=1")
  }

  @Test func `request arguments replace common ones`() async throws {
    let bench = ScriptedClient { $0.additions.arguments = { ["v": 1, "lang": "zh"] } }
    #expect(try await bench.url(Sending(path: "/a", arguments: ["v": 2])) == "http://h.example/a?lang=zh&v=2")
    #expect(try await bench.url(Sending(path: "/a", method: .post)) == "http://h.example/a?v=1&lang=zh")
  }

  @Test func `common arguments are read once`() async throws {
    let asked = Recorded<Int>()
    let bench = ScriptedClient {
      $0.additions.arguments = {
        asked.append(1)
        return ["n": asked.count]
      }
    }
    #expect(try await bench.url(Sending()) == "http://h.example/p?n=1")
    #expect(try await bench.url(Sending()) == "http://h.example/p?n=2")
    #expect(asked.count == 2)
  }

  @Test func `filter's error ends the call`() async {
    struct Closed: Error, CustomStringConvertible { let description = "the shop is closed" }
    let bench = ScriptedClient { $0.additions.filters = [URLFilter("door") { _, _ in throw Closed() }] }
    let error = await bench.failure(of: Sending())
    #expect(error?.message == "A URL filter failed: the shop is closed.")
    #expect(error?.cause is Closed)
    #expect(bench.transport.requests.isEmpty)
  }

  @Test func `filter's own API error is kept`() async {
    let own = APIError(.build, APIError.Code(rawValue: "closed"), "Come back tomorrow.")
    let bench = ScriptedClient { $0.additions.filters = [URLFilter("door") { _, _ in throw own }] }
    #expect(await bench.failure(of: Sending())?.message == "Come back tomorrow.")
  }

  @Test func `filter cannot add line breaks`() async {
    let bench = ScriptedClient { $0.additions.filters = [URLFilter("bad") { target, _ in target.path += "\r\nX: y" }] }
    #expect(await bench.failure(of: Sending())?.code == .invalidPath)
    #expect(bench.transport.requests.isEmpty)
  }
}
