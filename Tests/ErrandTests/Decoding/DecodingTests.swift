import Errand
import ErrandTesting
import Foundation
import Testing

struct DecodingTests {
  struct User: Codable, Sendable, Equatable {
    let nick: String
    var level: Int?
  }

  static func answer(_ bytes: [UInt8], _ type: String) -> ScriptedAnswer {
    ScriptedAnswer(status: 200, fields: HTTPFields([HTTPField(.contentType, type)]), body: Data(bytes))
  }

  @Test func `bytes are returned unchanged`() async throws {
    let bytes = Array(UInt8.min...UInt8.max)
    #expect(try await ScriptedClient(answers: [Self.answer(bytes, "x/y")]).client.send(Sending()) == Data(bytes))
  }

  @Test func `text is decoded by its charset`() async throws {
    let bench = ScriptedClient(answers: [
      Self.answer([0xD6, 0xD0, 0xCE, 0xC4], "text/plain; charset=GBK"), .text("中文😀"),
      Self.answer([0xA4, 0xA4], "text/html;charset=\"Big5\""),
    ])
    #expect(try await bench.client.send(Ask<String>()) == "中文")
    #expect(try await bench.client.send(Ask<String>()) == "中文😀")
    #expect(try await bench.client.send(Ask<String>()) == "中")
  }

  @Test(arguments: [
    "'utf-8'", "\"'UTF-8'\"", "utf-8,gbk", "klingon, utf-8", "\"utf-8, gbk\"", "utf8", " utf-8 ", "'klingon','utf-8'",
  ])
  func `alternative charset names are recognised`(charset: String) async throws {
    let bench = ScriptedClient(answers: [Self.answer(Array("中".utf8), "text/plain; charset=\(charset)")])
    #expect(try await bench.client.send(Ask<String>()) == "中")
  }

  @Test func `text failure gives the reason`() async {
    let bench = ScriptedClient(answers: [
      Self.answer([0xFF], "text/plain; charset=utf-8"), Self.answer([0x41], "text/plain; charset=klingon"),
    ])
    let invalid = await bench.failure(of: Ask<String>())
    #expect(invalid?.stage == .decode && invalid?.code == .decoding)
    #expect(invalid?.message == "The response could not be decoded as text: the body is not valid utf-8.")
    #expect(invalid?.response?.body == Data([0xFF]) && invalid?.request != nil)
    let unknown = await bench.failure(of: Ask<String>())
    #expect(unknown?.message == "The response could not be decoded as text: the charset \"klingon\" is unknown.")
  }

  @Test func `Nothing ignores the body`() async throws {
    let bench = ScriptedClient(answers: [.status(204), .text("{not read"), .json("[")])
    for _ in 0..<3 { #expect(try await bench.client.send(Ask<Nothing>()) == Nothing()) }
  }

  @Test func `JSON value is read by path`() async throws {
    let bench = ScriptedClient(answers: [
      .json(#"{"data":{"items":[{"name":"中"},{"name":null}],"big":18446744073709551615}}"#)
    ])
    let value = try await bench.client.send(Ask<JSONValue>())
    #expect(value.value(at: "data.items[0].name") == "中")
    #expect(value["data"]["items"][1]["name"]?.isNull == true && value["data"]["items"][2] == nil)
    #expect(value["data"]["big"] == .unsigned(.max))
  }

  @Test func `typed values are decoded from JSON`() async throws {
    let bench = ScriptedClient(answers: [
      .json(#"{"nick":"A","level":9,"more":[]}"#), .json(#"[{"nick":"A"}]"#), .json("7"), .json("null"),
    ])
    #expect(try await bench.client.send(Ask<User>()) == User(nick: "A", level: 9))
    #expect(try await bench.client.send(Ask<[User]>()) == [User(nick: "A")])
    #expect(try await bench.client.send(Ask<Int>()) == 7)
    #expect(try await bench.client.send(Ask<User?>()) == nil)
  }

  @Test(arguments: [
    (#"{"level":9}"#, "$.nick: "), (#"{"nick":7}"#, "$.nick: expected a string, found a number"),
    (#"{"nick":"A","level":"x"}"#, "$.level: expected "), ("[]", "$: "),
    (#"{"nick":null}"#, "$.nick: "),
  ])
  func `decoding failure names the path`(body: String, start: String) async {
    let error = await ScriptedClient(answers: [.json(body)]).failure(of: Ask<User>())
    #expect(error?.stage == .decode && error?.code == .decoding)
    #expect(error?.message.hasPrefix("The response could not be decoded as JSON: \(start)") == true)
    #expect(error?.cause is JSONDecodingError)
  }

  @Test func `excerpt masks secrets`() async {
    let body = #"{"nick":7,"password":"MARKER","note":"MARKER-that-is-longer-than-24-characters"}"#
    let error = await ScriptedClient(answers: [.json(body)]).failure(of: Ask<User>())
    #expect(error?.message.contains("nick") == true)
    #expect(error?.message.contains("MARKER") == false)
  }

  @Test(arguments: ["", "<html>", "{"]) func `invalid JSON is a failure`(body: String) async {
    let error = await ScriptedClient(answers: [.json(body)]).failure(of: Ask<User>())
    #expect(error?.code == .decoding)
    #expect(error?.message.hasSuffix("..") == false)
  }

  @Test func `request's rules override the client's`() async throws {
    struct Entry: Decodable, Sendable, Equatable { let createdAt: Date }
    let moment = Entry(createdAt: Date(timeIntervalSince1970: 0))
    let bench = ScriptedClient(
      {
        $0.formats.jsonDecoding = JSONDecoding(dates: .iso8601, keys: .convertFromSnakeCase)
      },
      answer: { request in
        .json(request.url.path == "/p" ? #"{"created_at":"1970-01-01T00:00:00Z"}"# : #"{"createdAt":0}"#)
      })
    #expect(try await bench.client.send(Ask<Entry>()) == moment)
    let own = Ask<Entry>(path: "/q", jsonDecoding: JSONDecoding(dates: .secondsSince1970))
    #expect(try await bench.client.send(own) == moment)
  }

  @Test func `large bodies decode too`() async throws {
    let users = (0..<2_000).map { (number: Int) in User(nick: "n\(number)", level: number) }
    let body = String(decoding: try JSONEncoder().encode(users), as: UTF8.self)
    #expect(try await ScriptedClient(answers: [.json(body)]).client.send(Ask<[User]>()) == users)
  }

  // MARK: - A custom format

  struct Row: Sendable, Equatable { let cells: [String] }
  struct Broken: Error, CustomStringConvertible { let description = "row 2 has no end" }

  struct Table: APIRequest {
    var path: Path { "/t" }
    var decoder: ResponseDecoder<Row> {
      ResponseDecoder("CSV", accept: "text/csv") { body, response in
        guard response.status == 200, !body.isEmpty else { throw Broken() }
        return Row(cells: String(decoding: body, as: UTF8.self).split(separator: ",").map(String.init))
      }
    }
  }

  @Test func `custom decoder names its format`() async throws {
    let bench = ScriptedClient(answers: [.text("a,b"), .text("")])
    #expect(try await bench.client.send(Table()) == Row(cells: ["a", "b"]))
    #expect(bench.transport.requests.first?.fields[.accept] == "text/csv")
    let error = await bench.failure(of: Table())
    #expect(error?.message == "The response could not be decoded as CSV: row 2 has no end.")
    #expect(error?.cause is Broken)
  }

  @Test func `response has value and headers`() async throws {
    let bench = ScriptedClient(answers: [.json(#"{"nick":"A"}"#, status: 201)])
    let response = try await bench.client.response(Ask<User>())
    #expect(response.value == User(nick: "A") && response.status == 201 && response.origin == .network)
    #expect(response.fields[.contentType] == "application/json" && response.raw.body == Data(#"{"nick":"A"}"#.utf8))
    #expect(response.metrics.attempts == 1 && response.raw.url.string == "http://h.example/p")
  }
}
