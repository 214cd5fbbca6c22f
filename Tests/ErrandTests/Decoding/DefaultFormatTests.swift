import Errand
import ErrandCore
import ErrandTesting
import Foundation
import Testing

struct DefaultFormatTests {
  struct Note: Codable, Sendable, Equatable { var text: String }

  struct Failing: APIRequest {
    typealias Response = Note
    typealias ErrorBody = Note
    var path: Path { "/failing" }
  }

  struct Kept: APIRequest {
    typealias Response = Note
    var path: Path { "/kept" }
    var cache: CachePolicy { .lifetime(.seconds(60)) }
  }

  /// Responds with a note in the format that the request accepts.
  static func server(status: Int = 200) throws -> LoopbackServer {
    let note = Note(text: "中")
    let (list, json) = (try PropertyListFormat().encode(note), try JSONEncoder().encode(note))
    return try LoopbackServer { request in
      request.headers["Accept"]?.contains("plist") == true
        ? .data(list, contentType: "application/x-plist", status: status)
        : .data(json, contentType: "application/json", status: status)
    }
  }

  static func client(_ server: LoopbackServer) -> APIClient {
    var configuration = ClientConfiguration(baseURL: server.url)
    configuration.formats.response = PropertyListFormat()
    return APIClient(configuration)
  }

  @Test func `client's format is requested and decoded`() async throws {
    let server = try Self.server()
    #expect(try await Self.client(server).send(Ask<Note>()) == Note(text: "中"))
    #expect(server.requests.map { $0.headers["Accept"] } == [PropertyListFormat().accept])
  }

  @Test func `later change affects later calls`() async throws {
    let server = try Self.server()
    let client = Self.client(server)
    client.configure { $0.formats.response = nil }
    #expect(try await client.send(Ask<Note>()) == Note(text: "中"))
    #expect(server.requests.map { $0.headers["Accept"] } == ["application/json"])
  }

  @Test func `family's format overrides the client's`() async throws {
    let server = try Self.server()
    let client = APIClient(baseURL: server.url)
    let family = RequestFamily("lists", formats: Formats(response: PropertyListFormat()))
    #expect(try await client.send(Ask<Note>(family: family)) == Note(text: "中"))
    #expect(server.requests.first?.headers["Accept"] == PropertyListFormat().accept)
  }

  @Test func `explicit decoders and plain types are unaffected`() async throws {
    let server = try Self.server()
    let client = Self.client(server)
    #expect(try await client.send(FormatTests.Read<Note>(decoder: .json())) == Note(text: "中"))
    #expect(try await client.send(Ask<JSONValue>())["text"] == "中")
    #expect(try await client.send(Ask<String>()) == #"{"text":"中"}"#)
    #expect(try await client.send(Ask<Data>()).count == Data(#"{"text":"中"}"#.utf8).count)
    #expect(server.requests.count == 4)
  }

  @Test func `error bodies use the format too`() async throws {
    let server = try Self.server(status: 409)
    let error = await Self.client(server).outcome(of: Failing()).error
    #expect(error?.body(as: Note.self) == Note(text: "中"))
    #expect(server.requests.count == 1)
  }

  @Test func `unreadable response names the format`() async {
    let bench = ScriptedClient(answers: [.json(#"{"text": 1}"#)]) { $0.formats.response = PropertyListFormat() }
    let error = await bench.failure(of: Ask<Note>())
    #expect(error?.stage == .decode && error?.code == .decoding)
    #expect(error?.message.contains(PropertyListFormat().name) == true && error?.message.contains("JSON") == false)
  }

  @Test func `cached value follows the format`() async throws {
    let server = try Self.server()
    let client = Self.client(server)
    #expect(try await client.send(Kept()) == Note(text: "中"))
    #expect(try await client.response(Kept()).origin == .cacheFresh)
    // The response stored in the other format cannot be decoded, so it is loaded again.
    client.configure { $0.formats.response = nil }
    #expect(try await client.response(Kept()).origin == .network)
    #expect(try await client.response(Kept()).origin == .cacheFresh)
    #expect(server.requests.map { $0.headers["Accept"] } == [PropertyListFormat().accept, "application/json"])
  }
}
