import Errand
import ErrandTesting
import ErrandTransfer
import Foundation
import TestSupport
import Testing

@testable import ErrandCore

/// Settings of a client and of a family that were once only settings of a request.
struct InheritedGroupsTests {
  private struct Name: Codable, Sendable, Equatable { let firstName: String }

  private static let shape: JSONShape = ["firstName": .string]

  /// A client that demands a shape and a content type of every response.
  private func strict(_ answer: @escaping @Sendable (HTTPRequest) async throws -> ScriptedAnswer) -> ScriptedClient {
    ScriptedClient(
      {
        $0.validation.shape = Self.shape
        $0.validation.contentTypes = ["application/json"]
      }, answer: answer)
  }

  @Test func `client's shape applies to JSON`() async throws {
    let bench = strict { _ in .json(#"{"firstName":1}"#) }
    #expect(await bench.failure(of: Ask<Name>())?.code == .shape)
    #expect(await bench.failure(of: Ask<JSONValue>())?.code == .shape)
    let own = Ask<JSONValue>(shape: ["firstName": .number])
    #expect(await bench.failure(of: own) == nil)
  }

  @Test func `client's content types apply to JSON`() async {
    let bench = strict { _ in .text(#"{"firstName":"a"}"#) }
    #expect(await bench.failure(of: Ask<Name>())?.code == .contentType)
    #expect(await bench.failure(of: Ask<Name>(contentTypes: ["text/*"])) == nil)
  }

  @Test func `bytes and texts inherit no shape`() async throws {
    let bench = strict { _ in .text("plain") }
    #expect(try await bench.client.send(Ask<String>()) == "plain")
    #expect(try await bench.client.send(Ask<Data>()) == Data("plain".utf8))
  }

  @Test func `empty responses inherit no shape`() async throws {
    let bench = strict { _ in .status(204) }
    try await bench.client.head("/a")
    _ = try await bench.client.send(Ask<Nothing>(method: .delete))
  }

  @Test func `streams and files inherit no shape`() async throws {
    let server = try LoopbackServer { _ in .text("plain") }
    defer { server.stop() }
    var configuration = ClientConfiguration(baseURL: server.url)
    configuration.validation = ResponseValidation(contentTypes: ["application/json"], shape: Self.shape)
    let client = APIClient(configuration)
    var bytes = Data()
    for try await piece in try await client.stream(Ask<Name>()) { bytes += piece }
    #expect(bytes == Data("plain".utf8))
    let file = URL(filePath: NSTemporaryDirectory()).appending(path: "errand-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: file) }
    _ = try await client.send(FileDownload("/a", .to(file)))
    #expect(try Data(contentsOf: file) == Data("plain".utf8))
  }

  @Test func `own response format beats the family's`() async throws {
    let bench = ScriptedClient({ $0.formats.response = Shout(mark: "client") }, answer: { _ in .text("x") })
    let family = RequestFamily("f", formats: Formats(response: Shout(mark: "family")))
    #expect(try await bench.client.send(Ask<Name>()) == Name(firstName: "client"))
    #expect(try await bench.client.send(Ask<Name>(family: family)) == Name(firstName: "family"))
    let own = Own(family: family)
    #expect(try await bench.client.send(own) == Name(firstName: "request"))
    #expect(bench.transport.requests.map { $0.fields[.accept] } == ["text/client", "text/family", "text/request"])
  }

  private struct Own: APIRequest {
    let path: Path = "/a"
    let family: RequestFamily?
    let formats = Formats(response: Shout(mark: "request"))
    typealias Response = Name
  }

  private struct Shout: ResponseFormat {
    let mark: String
    var name: String { mark }
    var accept: String { "text/\(mark)" }
    func decode<Value: Decodable>(_ type: Value.Type, from body: Data, of response: HTTPResponse) throws -> Value {
      try JSONDecoder().decode(type, from: Data(#"{"firstName":"\#(mark)"}"#.utf8))
    }
  }

  @Test(arguments: [
    (RepeatRule.inherited, RepeatRule.inherited, true), (.runAll, .inherited, false), (.inherited, .runAll, false),
    (.ignoreNew, .runAll, true),
  ])
  func `nearest repeat rule applies`(own: RepeatRule, family: RepeatRule, isRejected: Bool) async {
    let latch = Latch()
    let bench = ScriptedClient(
      { $0.overlap = Overlap(joining: .never, repeats: .ignoreNew) },
      answer: { _ in
        await latch.waitStubbornly()
        return .text("x")
      })
    let request = Repeated(family: RequestFamily("f", overlap: Overlap(repeats: family)), repeats: own)
    async let first = bench.client.outcome(of: request)
    #expect(await eventually { bench.transport.requests.count == 1 })
    async let second = bench.client.outcome(of: request)
    if !isRejected { #expect(await eventually { bench.transport.requests.count == 2 }) }
    if isRejected { #expect(await second.error?.code == .repeated) }
    latch.open()
    #expect(await first.error == nil)
    if !isRejected { #expect(await second.error == nil) }
  }

  private struct Repeated: APIRequest {
    let path: Path = "/a"
    let family: RequestFamily?
    let repeats: RepeatRule
    var overlap: Overlap { Overlap(repeats: repeats) }
    typealias Response = String
  }

  @Test func `one-off calls never replace another`() async throws {
    let latch = Latch()
    let bench = ScriptedClient(
      { $0.overlap.repeats = .cancelPrevious },
      answer: { _ in
        await latch.waitStubbornly()
        return .text("x")
      })
    async let first = bench.client.get("/a", as: String.self)
    async let second = bench.client.get("/b", as: String.self)
    #expect(await eventually { bench.transport.requests.count == 2 })
    latch.open()
    #expect(try await (first, second) == ("x", "x"))
  }

  @Test(arguments: [("family", true), ("client", true), ("host", false)])
  func `key rule is inherited`(place: String, isShared: Bool) async throws {
    let policy = CachePolicy.http.keyed(by: CacheKeyRule(leavingOut: ["time"]))
    let bench = ScriptedClient(
      {
        if place == "client" { $0.cache.policy = policy }
        if place == "host" { $0.cache.rules = [HostCacheRule("h.example", policy)] }
      },
      answer: { _ in .text("x", fields: ["Cache-Control": "max-age=60"]) })
    let family = place == "family" ? RequestFamily("f", cache: policy) : nil
    for time in 1...2 { _ = try await bench.client.send(Ask<String>(family: family, arguments: ["time": time])) }
    #expect(bench.transport.requests.count == (isShared ? 1 : 2))
  }

  @Test func `JSON formats keep the fast decoder`() async throws {
    let bench = ScriptedClient({ $0.formats = .json }, answer: { _ in .json(#"{"firstName":"a"}"#) })
    #expect(try await bench.client.send(Ask<Name>(method: .post, arguments: ["a": 1])) == Name(firstName: "a"))
    #expect(bench.transport.requests.last?.text == #"{"a":1}"#)
    #expect(bench.client.snapshot.configuration.formats.jsonDecoding.isInherited == false)
  }
}
