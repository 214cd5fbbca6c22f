import Errand
import ErrandCore
import ErrandTesting
import Foundation
import Testing

struct FormatTests {
  struct Note: Codable, Sendable, Equatable { var text: String }
  struct Refused: Error, CustomStringConvertible { let description: String }

  /// A custom format for both directions: the bytes of the JSON in reverse order.
  struct Backwards: BodyFormat, ResponseFormat {
    let name = "backwards"
    let contentType = "application/x-backwards"
    let accept = "application/x-backwards"

    func encode<Value: Encodable>(_ value: Value) throws -> Data {
      if (value as? Note)?.text == "no" { throw Refused(description: "this note is not for sending") }
      return Data(try JSONEncoder().encode(value).reversed())
    }

    func decode<Value: Decodable>(_ type: Value.Type, from body: Data, of response: HTTPResponse) throws -> Value {
      guard response.fields[.contentType] == accept else { throw Refused(description: "these are not my bytes") }
      return try JSONDecoder().decode(type, from: Data(body.reversed()))
    }
  }

  struct Echo: APIRequest {
    let note: Note
    var path: Path { "/echo" }
    var method: HTTPMethod { .post }
    var body: RequestBody? { .encoded(note, as: Backwards()) }
    var decoder: ResponseDecoder<Note> { .format(Backwards()) }
  }

  struct Read<Value: Decodable & Sendable>: APIRequest {
    var path: Path { "/read" }
    var contentTypes: [String]?
    var validation: ResponseValidation { ResponseValidation(contentTypes: contentTypes) }
    let decoder: ResponseDecoder<Value>
  }

  struct Form: APIRequest {
    var path: Path { "/form" }
    var validation: ResponseValidation { ResponseValidation(contentTypes: ["application/x-www-form-urlencoded"]) }
    var decoder: ResponseDecoder<FormValues> { .form() }
  }

  static func server(_ body: Data, _ type: String) throws -> LoopbackServer {
    try LoopbackServer { _ in .data(body, contentType: type) }
  }

  @Test func `custom format works in both directions`() async throws {
    let server = try LoopbackServer { request in
      .data(request.body, contentType: request.headers["Content-Type"] ?? "none")
    }
    let note = Note(text: "中")
    #expect(try await APIClient(baseURL: server.url).send(Echo(note: note)) == note)
    let request = try #require(server.requests.first)
    #expect(request.headers["Accept"] == "application/x-backwards")
    #expect(request.body.last == UInt8(ascii: "{"))
  }

  @Test func `refused value is never sent`() async {
    let bench = ScriptedClient()
    let error = await bench.failure(of: Echo(note: Note(text: "no")))
    #expect(error?.stage == .build && error?.code == .invalidBody && error?.cause is Refused)
    #expect(error?.message == "The body could not be encoded as backwards: this note is not for sending.")
    #expect(bench.transport.requests.isEmpty)
  }

  @Test func `failed encoding does not show the value`() async {
    struct Save: APIRequest {
      let body: RequestBody?
      var path: Path { "/note" }
      var method: HTTPMethod { .put }
      var decoder: ResponseDecoder<Note> { .propertyList() }
    }
    let bench = ScriptedClient()
    let form: Multipart = [.encoded("note", "s3cret", as: PropertyListFormat())]
    for body in [RequestBody.propertyList("s3cret"), .multipart(form)] {
      let error = await bench.failure(of: Save(body: body))
      #expect(error?.code == .invalidBody && error?.message.contains("could not be encoded as property list: ") == true)
      #expect(error?.message.contains("s3cret") == false)
    }
    #expect(bench.transport.requests.isEmpty)
  }

  @Test func `unreadable response names the format`() async {
    let error = await ScriptedClient(answers: [.text("x")]).failure(of: Echo(note: Note(text: "a")))
    #expect(error?.stage == .decode && error?.code == .decoding && error?.cause is Refused)
    #expect(error?.message == "The response could not be decoded as backwards: these are not my bytes.")
  }

  @Test func `property list is sent and received`() async throws {
    struct Save: APIRequest {
      let note: Note
      var path: Path { "/note" }
      var method: HTTPMethod { .put }
      var body: RequestBody? { .propertyList(note) }
      var validation: ResponseValidation { ResponseValidation(contentTypes: ["application/x-plist"]) }
      var decoder: ResponseDecoder<Note> { .propertyList() }
    }
    let server = try LoopbackServer { request in
      .data(request.body, contentType: request.headers["Content-Type"] ?? "none")
    }
    #expect(try await APIClient(baseURL: server.url).send(Save(note: Note(text: "<&>"))) == Note(text: "<&>"))
    #expect(server.requests.first?.body.starts(with: "<?xml".utf8) == true)
  }

  @Test func `invalid property list fails by stage`() async throws {
    let server = try Self.server(Data("bplist00 and no more".utf8), "application/x-plist")
    let client = APIClient(baseURL: server.url)
    let damaged = await client.outcome(of: Read<Note>(decoder: .propertyList())).error
    #expect(damaged?.stage == .decode && (damaged?.cause as? FormatFailure)?.kind == .malformed)
    let other = await client.outcome(of: Read<Note>(contentTypes: ["text/xml"], decoder: .propertyList())).error
    #expect(other?.stage == .validate && other?.code == .contentType)
    #expect(server.requests.count == 2)
  }

  @Test func `form is decoded over a socket`() async throws {
    let body = Data("oauth_token=ab%2Fc&oauth_token_secret=d+e&x=1&x=2".utf8)
    let server = try Self.server(body, "application/x-www-form-urlencoded; charset=utf-8")
    let form = try await APIClient(baseURL: server.url).send(Form())
    #expect(form["oauth_token"] == "ab/c" && form["oauth_token_secret"] == "d e" && form.all("x") == ["1", "2"])
    #expect(server.requests.first?.headers["Accept"] == "application/x-www-form-urlencoded")
  }

  @Test func `broken form names its field`() async {
    let answer = DecodingTests.answer(Array("a=1&b=%GG".utf8), "application/x-www-form-urlencoded")
    let error = await ScriptedClient(answers: [answer]).failure(of: Form())
    #expect(
      error?.message
        == "The response could not be decoded as form: [1]: a percent sign is not followed by two hexadecimal digits.")
  }
}
