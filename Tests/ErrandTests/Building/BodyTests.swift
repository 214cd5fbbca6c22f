import Errand
import ErrandTesting
import Foundation
import Testing

struct BodyTests {
  struct Order: Codable, Sendable, Equatable {
    var name: String
    var amount: Int
    var path: String?
  }

  static let order = Order(name: "中 文&+", amount: 3, path: "a/b")

  @Test func `JSON arguments become an object`() async throws {
    let sent = try await ScriptedClient().sent(
      Sending(method: .post, arguments: ["b": 1, "a": "x/y"], argumentFormat: .json))
    #expect(sent?.text == #"{"a":"x/y","b":1}"#)
    #expect(sent?.fields[.contentType] == "application/json")
  }

  @Test func `encodable value becomes JSON`() async throws {
    let sent = try #require(try await ScriptedClient().sent(Sending(method: .put, body: .json(Self.order))))
    #expect(try JSONDecoder().decode(Order.self, from: try #require(sent.body?.data)) == Self.order)
    #expect(sent.fields[.contentType] == "application/json")
  }

  @Test func `JSON value becomes JSON`() async throws {
    let value: JSONValue = ["list": [1, .null, true], "text": "中"]
    #expect(try await ScriptedClient().sent(Sending(method: .post, body: .json(value)))?.text == "\(value)")
  }

  @Test func `mixed literal becomes JSON`() async throws {
    let body = RequestBody.json(["id": 7, "name": "x", "tags": ["a", 2, .null]])
    let text = try #require(try await ScriptedClient().sent(Sending(method: .post, body: body))?.body?.data)
    let expected: JSONValue = ["id": 7, "name": "x", "tags": ["a", 2, .null]]
    #expect(try JSONValue(parsing: text) == expected)
  }

  @Test func `literal takes variables of several types`() async throws {
    let (name, tags, note, day) = ("x", ["a"], String?.none, Date(timeIntervalSince1970: 0))
    let body = RequestBody.json(["isNew": 1, "name": name, "tags": tags, "note": note, "day": day])
    for rules in [JSONEncoding.fast(dates: .iso8601, keys: .convertToSnakeCase), .init(dates: .iso8601)] {
      let sent = try await ScriptedClient().sent(Sending(method: .post, body: body, jsonEncoding: rules))
      let expected = #"{"day":"1970-01-01T00:00:00Z","isNew":1,"name":"x","note":null,"tags":["a"]}"#
      #expect(sent?.text == expected, "like the keys of a dictionary, the names are not converted")
    }
  }

  @Test func `last value of a name counts`() async throws {
    let (one, two) = (1, "two")
    let sent = try await ScriptedClient().sent(Sending(method: .post, body: .json(["a": one, "a": two])))
    #expect(sent?.text == #"{"a":"two"}"#)
  }

  @Test func `encoding rules belong to the request`() async throws {
    struct Snake: Encodable, Sendable { let userName = "x", at = Date(timeIntervalSince1970: 0) }
    let rules = JSONEncoding(dates: .iso8601, keys: .convertToSnakeCase)
    let request = Sending(method: .post, body: .json(Snake()), jsonEncoding: rules)
    #expect(try await ScriptedClient().sent(request)?.text == #"{"at":"1970-01-01T00:00:00Z","user_name":"x"}"#)
    let bench = ScriptedClient { $0.formats.jsonEncoding = rules }
    #expect(try await bench.sent(Sending(method: .post, body: .json(Snake())))?.text?.contains("user_name") == true)
  }

  @Test func `value that cannot be encoded fails`() async {
    let bench = ScriptedClient()
    let error = await bench.failure(of: Sending(method: .post, body: .json(["a": Double.nan])))
    #expect(error?.code == .invalidBody && error?.stage == .build)
    #expect(error?.message.hasPrefix("The body could not be encoded as JSON: ") == true)
    #expect(bench.transport.requests.isEmpty)
  }

  @Test func `text, bytes and form make a body`() async throws {
    let bench = ScriptedClient()
    let text = try await bench.sent(Sending(method: .post, body: .text("中文")))
    #expect(text?.text == "中文" && text?.fields[.contentType] == "text/plain; charset=utf-8")
    let bytes = try await bench.sent(Sending(method: .post, body: .bytes(Data([0, 255, 13, 10]))))
    #expect(bytes?.body?.data == Data([0, 255, 13, 10]) && bytes?.fields[.contentType] == "application/octet-stream")
    let typed = try await bench.sent(Sending(method: .post, body: .bytes(Data(), type: "image/png")))
    #expect(typed?.body?.data == Data() && typed?.fields[.contentType] == "image/png")
    let form = try await bench.sent(Sending(method: .post, body: .form(["a": "b c"])))
    #expect(form?.formPairs == [["a", "b c"]] && form?.fields[.contentType] == "application/x-www-form-urlencoded")
  }

  @Test(arguments: [HTTPMethod.delete, .get, .patch, "PURGE"])
  func `any method may have a body`(method: HTTPMethod) async throws {
    let sent = try await ScriptedClient().sent(Sending(method: method, arguments: ["a": 1], body: .text("x")))
    #expect(sent?.method == method && sent?.text == "x" && sent?.url.query == "a=1")
  }

  @Test func `no arguments make no body`() async throws {
    let sent = try await ScriptedClient().sent(Sending(method: .post))
    #expect(sent?.body == nil && sent?.fields.contains(.contentType) == false)
  }

  @Test func `empty form and object make a body`() async throws {
    let bench = ScriptedClient()
    #expect(try await bench.sent(Sending(method: .post, argumentFormat: .form))?.body?.data == Data())
    #expect(try await bench.sent(Sending(method: .post, argumentFormat: .json))?.text == "{}")
  }

  // MARK: - Common arguments

  static func common() -> ScriptedClient {
    ScriptedClient { $0.additions.bodyArguments = { ["app": "shop", "v": 1] } }
  }

  @Test func `common arguments are added to forms`() async throws {
    let bench = Self.common()
    #expect(try await bench.sent(Sending(method: .post, arguments: ["v": 2]))?.text == "app=shop&v=2")
    #expect(try await bench.sent(Sending(method: .post))?.text == "app=shop&v=1")
    #expect(try await bench.sent(Sending(method: .post, body: .form(["a": "b"])))?.text == "app=shop&v=1&a=b")
    #expect(bench.transport.requests.allSatisfy { $0.url.query == nil })
  }

  @Test func `common arguments are added to JSON objects`() async throws {
    let bench = Self.common()
    let request = Sending(method: .post, arguments: ["v": 2, "q": [1]], argumentFormat: .json)
    let arguments = try #require(try await bench.sent(request)?.body?.data)
    #expect(try JSONValue(parsing: arguments) == ["app": "shop", "v": 2, "q": [1]])
    let encoded = try #require(try await bench.sent(Sending(method: .post, body: .json(Self.order)))?.body?.data)
    #expect(try JSONValue(parsing: encoded) == ["app": "shop", "v": 1, "name": "中 文&+", "amount": 3, "path": "a/b"])
  }

  @Test func `common arguments skip other bodies`() async throws {
    let bench = Self.common()
    #expect(try await bench.sent(Sending(method: .post, body: .text("x")))?.text == "x")
    #expect(try await bench.sent(Sending(method: .get, arguments: ["a": 1]))?.body == nil)
    #expect(bench.transport.requests.last?.url.query == "a=1")
  }

  @Test func `common arguments need a JSON object`() async {
    let bench = Self.common()
    let error = await bench.failure(of: Sending(method: .post, body: .json([1, 2])))
    #expect(error?.code == .invalidBody)
    #expect(
      error?.message
        == "The client's common body arguments can only be added to a JSON object, but this body is an array; "
        + "send a JSON object, or send the JSON with `RequestBody.bytes`.")
    #expect(bench.transport.requests.isEmpty)
  }
}
