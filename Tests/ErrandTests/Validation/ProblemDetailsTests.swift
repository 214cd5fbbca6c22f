import Errand
import ErrandCore
import Foundation
import Testing

/// The members of problem details, with the examples of RFC 9457 section 3.
struct ProblemDetailsTests {
  private func problem(_ body: String, type: String = "application/problem+json") throws -> ProblemDetails {
    let head = ResponseHead(status: 403, fields: HTTPFields([HTTPField(.contentType, type)]))
    return try ProblemDetails(
      HTTPResponse(head: head, body: Data(body.utf8), url: HTTPURL("https://api.example.com/account/12345")))
  }

  @Test func `all standard members are read`() throws {
    let problem = try problem(ProblemExample.outOfCredit)
    #expect(problem.type == "https://example.com/probs/out-of-credit")
    #expect(problem.title == "You do not have enough credit.")
    #expect(problem.detail == "Your current balance is 30, but that costs 50.")
    #expect(problem.instance == "/account/12345/msgs/abc")
    #expect(problem.status == nil)
    #expect(problem.extensions == ["balance": 30, "accounts": ["/account/12345", "/account/67890"]])
  }

  @Test func `extension members have any form`() throws {
    let problem = try problem(ProblemExample.invalid, type: "Application/Problem+JSON; charset=utf-8")
    #expect(problem.title == "Your request is not valid.")
    #expect(problem.extensions["errors"]?[1]?["pointer"] == "#/profile/color")
  }

  @Test func `missing members have their defaults`() throws {
    let problem = try problem("{}")
    #expect(problem.type == "about:blank" && problem.extensions.isEmpty)
    #expect([problem.title, problem.detail, problem.instance] == [nil, nil, nil] && problem.status == nil)
  }

  @Test func `members of wrong types are ignored`() throws {
    let problem = try problem(#"{"type":1,"title":["a"],"status":"403","detail":null,"instance":{},"code":"x"}"#)
    #expect(problem == (try self.problem(#"{"code":"x"}"#)))
  }

  @Test(arguments: [
    ("application/json", "{}", "the response has the content type \"application/json\"; "),
    ("application/problem+xml", "{}", "the response has the content type \"application/problem+xml\"; "),
    ("application/problem+json", "[]", "the body is not a JSON object"),
    ("application/problem+json", "{", "the text "),
  ])
  func `other responses are no problem`(type: String, body: String, clause: String) {
    let failure = #expect(throws: FormatFailure.self) { try problem(body, type: type) }
    #expect(failure?.description.hasPrefix(clause) == true, "\(failure?.description ?? "")")
  }

  @Test func `JSONDecoder reads the same members`() throws {
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    let read = try decoder.decode(ProblemDetails.self, from: Data(ProblemExample.outOfCredit.utf8))
    #expect(read == (try problem(ProblemExample.outOfCredit)))
    #expect(throws: DecodingError.self) { try JSONDecoder().decode(ProblemDetails.self, from: Data("[1]".utf8)) }
  }
}

/// The bodies of the examples in RFC 9457 section 3.
enum ProblemExample {
  static let outOfCredit = """
    {
      "type": "https://example.com/probs/out-of-credit",
      "title": "You do not have enough credit.",
      "detail": "Your current balance is 30, but that costs 50.",
      "instance": "/account/12345/msgs/abc",
      "balance": 30,
      "accounts": ["/account/12345", "/account/67890"]
    }
    """
  static let invalid = """
    {
      "type": "https://example.net/validation-error",
      "title": "Your request is not valid.",
      "errors": [
        {"detail": "must be a positive integer", "pointer": "#/age"},
        {"detail": "must be 'green', 'red' or 'blue'", "pointer": "#/profile/color"}
      ]
    }
    """
}
