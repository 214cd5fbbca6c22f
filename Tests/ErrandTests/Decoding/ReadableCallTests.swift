import Errand
import ErrandTesting
import Foundation
import Testing

/// Responses that decode themselves from a JSON value, over a socket.
struct ReadableCallTests {
  struct Tea: JSONReadable, Sendable, Equatable {
    let name: String, price: Decimal

    init(json: JSONValue) throws {
      name = try json.read("name")
      price = try json.read("price")
    }
  }

  struct Refusal: JSONReadable, Sendable {
    let words: String
    init(json: JSONValue) throws { words = try json.read("why") }
  }

  struct GetTeas: APIRequest {
    let path: Path
    var decoding: JSONDecoding = .inherited
    var validation: ResponseValidation { ResponseValidation(envelope: Envelope(value: "data", code: "code")) }
    var formats: Formats { Formats(jsonDecoding: decoding) }
    typealias Response = [Tea]
    typealias ErrorBody = Refusal
  }

  private let server: LoopbackServer
  private let client: APIClient

  init() throws {
    server = try LoopbackServer { request in
      switch request.path {
      case "/teas": .json(#"{"code":0,"data":[{"name":"Assam","price":3.10},{"name":"梅","price":0.1}]}"#)
      case "/none": .json(#"{"code":0,"data":[{"name":"Assam","price":3},{"name":"?"}]}"#)
      default: .json(#"{"why":"not today"}"#, status: 409)
      }
    }
    client = APIClient(baseURL: server.url)
  }

  @Test(arguments: [JSONDecoding.inherited, .fast]) func `list of readable values is decoded`(decoding: JSONDecoding)
    async throws
  {
    let teas = try await client.send(GetTeas(path: "/teas", decoding: decoding))
    #expect(teas.map(\.name) == ["Assam", "梅"])
    #expect(teas.map(\.price) == [Decimal(string: "3.1"), Decimal(string: "0.1")])
  }

  @Test(arguments: [JSONDecoding.inherited, .fast]) func `decoding failure names the path`(decoding: JSONDecoding) async
  {
    let error = await #expect(throws: APIError.self) {
      try await client.send(GetTeas(path: "/none", decoding: decoding))
    }
    #expect(error?.code == .decoding)
    let words = "$.data[1].price: the key \"price\" is missing"
    #expect(error?.message.contains(words) == true, "\(String(describing: error))")
  }

  @Test func `error body is a readable value`() async throws {
    let error = await #expect(throws: APIError.self) { try await client.send(GetTeas(path: "/refused")) }
    #expect(error?.code == .status && error?.body(as: Refusal.self)?.words == "not today")
  }
}
