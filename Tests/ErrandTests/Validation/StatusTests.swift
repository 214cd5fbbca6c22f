import Dispatch
import Errand
import ErrandTesting
import Foundation
import Testing

struct StatusTests {
  @Test(arguments: [200, 201, 204, 206, 299]) func `200 to 299 is success`(status: Int) async {
    #expect(await ScriptedClient(answers: [.status(status)]).failure(of: Sending()) == nil)
  }

  @Test(arguments: [304, 400, 401, 404, 418, 500, 503]) func `other statuses fail`(status: Int) async {
    let error = await ScriptedClient(answers: [.text("sorry", status: status)]).failure(of: Sending())
    #expect(error?.stage == .validate && error?.code == .status && error?.status == status)
    #expect(error?.message == "The server answered \(status); expected 200–299.")
    #expect(error?.response?.body == Data("sorry".utf8) && error?.attempts == 1)
    #expect(error?.body(as: Data.self) == Data("sorry".utf8))
    #expect(error?.description == "validate/status: \(error?.message ?? "") [GET http://h.example/p → \(status)]")
    #expect(error?.localizedDescription == error?.message)
  }

  @Test func `reason phrase is in the message`() async {
    let bench = ScriptedClient(answer: { _ in
      var answer = ScriptedAnswer.status(404)
      answer.head.reason = "Not Here"
      return answer
    })
    #expect(await bench.failure(of: Sending())?.message == "The server answered 404 Not Here; expected 200–299.")
  }

  @Test func `request overrides family and client`() async {
    let family = RequestFamily("f", validation: ResponseValidation(status: [202]))
    let bench = ScriptedClient({ $0.validation.status = [201] }, answer: { _ in .status(201) })
    #expect(await bench.failure(of: Sending()) == nil)
    #expect(await bench.failure(of: Sending(family: family))?.message == "The server answered 201; expected 202.")
    #expect(await bench.failure(of: Sending(family: family, statusRule: .any)) == nil)
  }

  @Test func `redirect can be handled manually`() async throws {
    let bench = ScriptedClient(answers: [.redirect(to: "/b"), .redirect(to: "/c")])
    let request = Sending(redirects: .manual, statusRule: .range(200...399))
    let response = try await bench.client.response(request)
    #expect(response.status == 302 && response.fields[.location] == "/b")
    #expect(await bench.failure(of: Sending(redirects: .manual))?.code == .status)
  }

  // MARK: - Content types

  @Test(arguments: [
    ("application/json", ["application/json"], true),
    ("application/json; charset=utf-8", ["text/*", "application/json"], true),
    ("text/plain", ["text/*"], true), ("image/png", ["*/*"], true), ("text/html", ["application/json"], false),
    ("application/json", ["Application/JSON; charset=utf-8"], true), ("text/csv", ["text/* ;header=present"], true),
    ("image/png", ["*/*; q=0.5"], true),
    ("application/json; charset=utf-8", ["application/json;charset=utf-8"], true),
    ("text/html", ["application/json; charset=utf-8"], false),
    ("nonsense", ["*/*"], false),
  ])
  func `content type is validated`(found: String, patterns: [String], passes: Bool) async {
    let fields = HTTPFields([HTTPField(.contentType, found)])
    let bench = ScriptedClient(answers: [ScriptedAnswer(status: 200, fields: fields, body: Data("x".utf8))])
    let error = await bench.failure(of: Sending(contentTypes: patterns))
    #expect((error == nil) == passes)
    if let error {
      #expect(error.code == .contentType)
      #expect(
        error.message
          == "The response has the content type \"\(found)\"; expected \(patterns.joined(separator: " or "))."
      )
    }
  }

  @Test func `missing content type is reported`() async {
    let bench = ScriptedClient(answers: [ScriptedAnswer(body: Data("x".utf8)), .status(204)])
    let request = Sending(contentTypes: ["text/plain"])
    #expect(await bench.failure(of: request)?.message == "The response has no content type; expected text/plain.")
    #expect(await bench.failure(of: request) == nil)
  }

  // MARK: - Error bodies

  struct Fault: Decodable, Sendable, Equatable { let userMessage: String }

  struct Failing: APIRequest {
    typealias ErrorBody = Fault
    var jsonDecoding: JSONDecoding = .inherited
    var path: Path { "/f" }
    var formats: Formats { Formats(jsonDecoding: jsonDecoding) }
  }

  @Test func `error body is typed`() async {
    let bench = ScriptedClient(answers: [.json(#"{"userMessage":"no"}"#, status: 422), .text("oops", status: 500)])
    #expect(await bench.failure(of: Failing())?.body(as: Fault.self) == Fault(userMessage: "no"))
    let other = await bench.failure(of: Failing())
    #expect(other?.body(as: Fault.self) == nil && other?.response?.body == Data("oops".utf8))
  }

  @Test func `error body follows the client's rules`() async {
    let bench = ScriptedClient(answers: [.json(#"{"user_message":"no"}"#, status: 422)]) {
      $0.formats.jsonDecoding = JSONDecoding(keys: .convertFromSnakeCase)
    }
    #expect(await bench.failure(of: Failing())?.body(as: Fault.self) == Fault(userMessage: "no"))
  }

  @Test func `error body follows the request's rules`() async {
    let bench = ScriptedClient(answers: [.json(#"{"user_message":"no"}"#, status: 422)])
    let request = Failing(jsonDecoding: JSONDecoding(keys: .convertFromSnakeCase))
    #expect(await bench.failure(of: request)?.body(as: Fault.self) == Fault(userMessage: "no"))
  }

  struct Place: Decodable, Sendable {
    static let key = DispatchSpecificKey<Bool>()
    let isMain: Bool
    init(from decoder: any Decoder) throws { isMain = DispatchQueue.getSpecific(key: Self.key) == true }
  }

  struct Placed: APIRequest {
    typealias ErrorBody = Place
    var path: Path { "/f" }
  }

  @MainActor @Test func `large error bodies are decoded off the caller`() async {
    DispatchQueue.main.setSpecific(key: Place.key, value: true)
    let large = #"{"text":"\#(String(repeating: "x", count: 20_000))"}"#
    let bench = ScriptedClient(answers: [.json("{}", status: 500), .json(large, status: 500)])
    #expect(await bench.failure(of: Placed())?.body(as: Place.self)?.isMain == true)
    #expect(await bench.failure(of: Placed())?.body(as: Place.self)?.isMain == false)
  }
}
