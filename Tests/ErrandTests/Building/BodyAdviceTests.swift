import Errand
import ErrandTesting
import Foundation
import TestSupport
import Testing

/// The warning about the body of a GET request, which most servers ignore.
@Suite(.enabled(if: isDebugBuild)) struct BodyAdviceTests {
  private struct AddUser: APIRequest {
    var path: Path { "/users" }
    var body: RequestBody? { .text("Ada") }
  }

  @Test func `body without a method is explained`() async {
    #expect(
      await ScriptedClient.warnings(AddUser()) == [
        "AddUser: the method is GET, and most servers ignore the body of a GET (RFC 9110 section 9.3.1); declare "
          + "`method` as `.post`, or as `.query` if the request only reads."
      ])
  }

  private struct AddTag: APIRequest {
    var path: Path { "/tags" }
    var arguments: Arguments { ["name": "new"] }
    var formats: Formats { Formats(arguments: .json) }
  }

  @Test func `arguments in a body are explained`() async {
    #expect(
      await ScriptedClient.warnings(AddTag()) == [
        "AddTag: the method is GET, and most servers ignore the body of a GET (RFC 9110 section 9.3.1); declare "
          + "`method` as `.post`, or as `.query` if the request only reads, or set `arguments` of `formats` to "
          + "`.jsonByMethod` or `.byMethod`, so that they go into the query."
      ])
  }

  private struct Post: APIRequest {
    var path: Path { "/users" }
    var method: HTTPMethod { .post }
    var body: RequestBody? { .text("Ada") }
  }

  private struct Query: APIRequest {
    var path: Path { "/users" }
    var method: HTTPMethod { .query }
    var body: RequestBody? { .text("Ada") }
  }

  private struct Remove: APIRequest {
    var path: Path { "/users" }
    var method: HTTPMethod { .delete }
    var body: RequestBody? { .text("Ada") }
  }

  private struct Search: APIRequest {
    var path: Path { "/users" }
    var arguments: Arguments { ["name": "Ada"] }
    var formats: Formats { .json }
  }

  private struct Empty: APIRequest {
    var path: Path { "/users" }
    var body: RequestBody? { .text("") }
  }

  private struct Finished: APIRequest {
    var path: Path { "/users" }
    func finishedRequest() throws -> HTTPRequest? {
      try HTTPRequest(method: .get, url: "http://h.example/users", body: HTTPBody(Data("Ada".utf8)))
    }
  }

  @Test func `other bodies are silent`() async {
    #expect(await ScriptedClient.warnings(Post()).isEmpty)
    #expect(await ScriptedClient.warnings(Query()).isEmpty)
    #expect(await ScriptedClient.warnings(Remove()).isEmpty)
    #expect(await ScriptedClient.warnings(Search()).isEmpty)
    #expect(await ScriptedClient.warnings(Empty()).isEmpty)
    #expect(await ScriptedClient.warnings(Finished()).isEmpty)
  }
}
