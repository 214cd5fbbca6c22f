import ErrandSupport
import Errand
import ErrandTesting
import Foundation
import Testing

/// Forms of requests: checked, finished, stored for later, a class, a family by protocol.
struct RequestFormTests {
  struct TooYoung: Error, CustomStringConvertible { let description = "the age is below 18" }

  @Test func `check fails before anything is sent`() async {
    let built = Recorded<Int>()
    let bench = ScriptedClient { $0.additions.filters = [URLFilter("noting") { _, _ in built.append(1) }] }
    let error = await bench.failure(of: Sending(checking: { throw TooYoung() }))
    #expect(error?.stage == .build && error?.code == .parameter && error?.cause is TooYoung)
    #expect(error?.message == "A parameter is wrong: the age is below 18.")
    #expect(bench.transport.requests.isEmpty && built.all.isEmpty && error?.attempts == 0)
  }

  @Test func `check may throw its own error`() async {
    let own = APIError(.build, APIError.Code(rawValue: "age"), "Adults only.")
    #expect(await ScriptedClient().failure(of: Sending(checking: { throw own }))?.message == "Adults only.")
  }

  // MARK: - Finished requests

  @Test func `finished request is sent unchanged`() async throws {
    let finished = try HTTPRequest(
      method: "SEARCH", url: "https://o/x?y=%20#z", fields: ["Accept": "a/b", "X": "1"],
      body: HTTPBody(Data("raw".utf8)))
    let bench = ScriptedClient(baseURL: "") {
      $0.headers = ["X": "client"]
      $0.additions.filters = [URLFilter("never") { target, _ in target.path = "/never" }]
      $0.additions.arguments = { ["never": 1] }
    }
    let sent = try #require(
      try await bench.sent(Sending(path: "/ignored", arguments: ["never": 1], finished: finished)))
    #expect(sent.method == "SEARCH" && sent.url.string == "https://o/x?y=%20" && sent.text == "raw")
    #expect(sent.fields[.accept] == "a/b" && sent.fields["X"] == "1" && sent.fields[.userAgent] == "Errand")
  }

  @Test func `finished request passes the pipeline`() async throws {
    let bench = ScriptedClient(answers: [.redirect(to: "/b"), .json(#"{"nick":7}"#), .status(500)]) {
      $0.credentials = FixedCredential(.bearer("t"))
      $0.interceptors.calls = [
        Around { request, _, next in
          var request = request
          request.fields["X-Seen"] = "1"
          return try await next(request)
        }
      ]
    }
    let request = Sending(shape: ["nick": .string], finished: try HTTPRequest(url: "http://h.example/a"))
    #expect(await bench.failure(of: request)?.code == .shape)
    #expect(await bench.failure(of: request)?.code == .status)
    #expect(bench.transport.requests.count == 3)
    #expect(
      bench.transport.requests.allSatisfy { $0.fields["X-Seen"] == "1" && $0.fields[.authorization] == "Bearer t" })
  }

  @Test func `call's headers override the finished request`() async throws {
    let request = Sending(finished: try HTTPRequest(url: "http://h/", fields: ["X": "1"]))
    #expect(try await ScriptedClient().sent(request, options: CallOptions(headers: ["X": "2"]))?.fields["x"] == "2")
  }

  struct Unfinished: APIRequest {
    var path: Path { "/u" }
    func finishedRequest() throws -> HTTPRequest? { try HTTPRequest(url: "nonsense") }
  }

  @Test func `finished request may throw`() async {
    let error = await ScriptedClient().failure(of: Unfinished())
    #expect(error?.stage == .build && error?.code == .invalidURL)
    #expect(
      error?.message
        == "The request of `finishedRequest()` could not be created: \"nonsense\" is not an absolute http or https URL; write it like https://host/path."
    )
  }

  // MARK: - Stored requests

  struct Rename: APIRequest, Codable, Equatable {
    typealias Response = Nothing
    let id: Int
    let name: String
    var at: Date
    var method: HTTPMethod { .put }
    var path: Path { "/users/\(id)" }
    var arguments: Arguments { ["name": name, "at": at] }
    var formats: Formats { Formats(arguments: .json) }
  }

  @Test func `stored request can be sent later`() async throws {
    let request = Rename(id: 7, name: "中 文", at: Date(timeIntervalSince1970: 0))
    let restored = try JSONDecoder().decode(Rename.self, from: try JSONEncoder().encode(request))
    #expect(restored == request)
    let first = try #require(try await ScriptedClient().sent(request))
    let second = try #require(try await ScriptedClient().sent(restored))
    #expect(first.url == second.url && first.fields == second.fields && first.body == second.body)
    #expect(second.text == #"{"at":"1970-01-01T00:00:00Z","name":"中 文"}"#)
  }

  // MARK: - Classes and families

  final class Counted: APIRequest {
    let reads = Locked(0)
    var path: Path {
      reads.withLock { $0 += 1 }
      return "/c"
    }
  }

  @Test func `class can be a request`() async throws {
    let request = Counted()
    #expect(try await ScriptedClient().url(request) == "http://h.example/c")
    #expect(request.reads.withLock { $0 } == 1)
  }

  struct Order: ShopRequest {
    let number: Int
    var path: Path { "/orders/\(number)" }
    var headers: RequestHeaders { ["X-Order": "1"] }
  }

  @Test func `protocol can be a family`() async throws {
    let bench = ScriptedClient(answers: [.status(200), .json(#"{"reason":"sold out"}"#, status: 409)])
    let sent = try #require(try await bench.sent(Order(number: 3)))
    #expect(sent.url.string == "https://shop.example/v2/orders/3" && sent.method == .post)
    #expect(sent.fields["X-App"] == "shop" && sent.fields["X-Order"] == "1" && sent.text == "lang=zh")
    #expect(await bench.failure(of: Order(number: 3))?.body(as: ShopFault.self)?.reason == "sold out")
  }

  @Test func `same request may run concurrently`() async throws {
    let bench = ScriptedClient(answer: { .text($0.url.path) })
    let request = Ask<String>(path: "/same")
    let texts = try await withThrowingTaskGroup(of: String.self) { group in
      for _ in 0..<200 { group.addTask { try await bench.client.send(request) } }
      return try await group.reduce(into: [String]()) { $0.append($1) }
    }
    #expect(texts == Array(repeating: "/same", count: 200) && bench.client.running.isEmpty)
  }
}
