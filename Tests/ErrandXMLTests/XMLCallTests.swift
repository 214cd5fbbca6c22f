import Errand
import ErrandCore
import ErrandTesting
import ErrandXML
import Foundation
import Testing

struct XMLCallTests {
  struct Reply: Decodable, Sendable, Equatable { let name: String, level: Int }

  struct Read: APIRequest {
    var path: Path { "/x" }
    var validation: ResponseValidation {
      ResponseValidation(contentTypes: ["application/xml", "text/xml", "application/*+xml"])
    }
    var decoder: ResponseDecoder<Reply> { .xml() }
  }

  struct Document: APIRequest {
    var path: Path { "/x" }
    var limits = XMLLimits()
    var decoder: ResponseDecoder<XMLValue> { .xml(limits: limits) }
  }

  static func server(_ text: String, _ type: String = "application/xml") throws -> LoopbackServer {
    try LoopbackServer { _ in .data(text.utf8, contentType: type) }
  }

  static let reply = "<reply><name>Ada</name><level>9</level></reply>"

  @Test(arguments: ["application/xml", "text/xml; charset=utf-8", "application/atom+xml"])
  func `typed response is read as XML`(type: String) async throws {
    let server = try Self.server(Self.reply, type)
    #expect(try await APIClient(baseURL: server.url).send(Read()) == Reply(name: "Ada", level: 9))
    #expect(server.requests.first?.headers["Accept"] == "application/xml, text/xml;q=0.9")
  }

  @Test func `document response is read as XML`() async throws {
    let server = try Self.server(Self.reply)
    let document = try await APIClient(baseURL: server.url).send(Document())
    #expect(document["name"]?.text == "Ada")
    #expect(server.requests.count == 1)
  }

  @Test func `error response is read as XML`() async throws {
    let server = try LoopbackServer { request in
      request.query == "html"
        ? .data("<p>no<p>".utf8, contentType: "text/html", status: 500)
        : .data(Self.reply.utf8, contentType: "application/xml", status: 409)
    }
    let error = await APIClient(baseURL: server.url).outcome(of: Read()).error
    #expect(error?.body(as: Reply.self, by: XMLFormat()) == Reply(name: "Ada", level: 9))
    let other = await APIClient(baseURL: server.url).outcome(of: FinishedRead(url: server.url + "/x?html")).error
    #expect(other?.status == 500 && other?.body(as: Reply.self, by: XMLFormat()) == nil)
  }

  private struct FinishedRead: APIRequest {
    let url: String
    var path: Path { "/x" }
    func finishedRequest() throws -> HTTPRequest? { try HTTPRequest(url: url) }
  }

  @Test func `charset of Content-Type is used`() async throws {
    let bytes =
      Data("<?xml version='1.0' encoding='utf-8'?><reply><name>".utf8) + Data([0xE9])
      + Data("</name><level>1</level></reply>".utf8)
    let server = try LoopbackServer { _ in .data(bytes, contentType: "text/xml; charset=iso-8859-1") }
    #expect(try await APIClient(baseURL: server.url).send(Read()).name == "é")
    #expect(server.requests.count == 1)
  }

  @Test func `wrong content type is an error`() async throws {
    let server = try Self.server(Self.reply, "text/html")
    let error = await APIClient(baseURL: server.url).outcome(of: Read()).error
    #expect(error?.stage == .validate && error?.code == .contentType)
    #expect(server.requests.count == 1)
  }

  private struct Silent: APIRequest {
    var path: Path { "/x" }
    var contentTypes: [String]?
    var validation: ResponseValidation { ResponseValidation(contentTypes: contentTypes) }
    var decoder: ResponseDecoder<Reply> { .xml() }
  }

  private struct ByClient: APIRequest {
    var path: Path { "/x" }
    typealias Response = Reply
  }

  private struct Bytes: APIRequest {
    var path: Path { "/x" }
    var decoder: ResponseDecoder<Int> { ResponseDecoder("bytes") { body, _ in body.count } }
  }

  private static func client(_ server: LoopbackServer) -> APIClient {
    let client = APIClient(baseURL: server.url)
    client.configure { $0.formats.response = XMLFormat() }
    return client
  }

  @Test(arguments: [
    "text/html", "text/html; charset=utf-8", "application/xhtml+xml", "application/json", "text/plain", "nonsense",
  ])
  func `web page is not accepted`(type: String) async throws {
    let server = try Self.server(Self.reply, type)
    let client = Self.client(server)
    let errors = [
      await client.outcome(of: Silent()).error, await client.outcome(of: Document()).error,
      await client.outcome(of: ByClient()).error,
    ]
    for error in errors {
      #expect(error?.stage == .validate && error?.code == .contentType)
      #expect(
        error?.message == "The response has the content type \"\(type)\"; expected application/xml or text/xml or "
          + "*/*+xml. If the content type of the response is correct, add the type to `contentTypes` of the "
          + "`validation`.")
    }
    let asked = await client.outcome(of: Silent(contentTypes: ["*/*"])).value
    #expect((asked?.name == "Ada") == (type != "nonsense"), "the request accepts any type")
    #expect(try await client.send(Bytes()) == Self.reply.utf8.count, "a custom decoder does not restrict content types")
    #expect(server.requests.count == 5)
  }

  @Test(arguments: ["application/xml", "TEXT/XML; charset=utf-8", "application/atom+xml", "image/svg+xml", nil])
  func `XML-based types are accepted`(type: String?) async throws {
    let server = try LoopbackServer { _ in
      .status(200, headers: type.map { ["Content-Type": $0] } ?? [:], body: Self.reply)
    }
    let client = Self.client(server)
    #expect(try await client.send(Silent()).name == "Ada")
    #expect(try await client.send(Document())["name"]?.text == "Ada")
    #expect(try await client.send(ByClient()).name == "Ada")
    #expect(server.requests.count == 3)
  }

  @Test(arguments: [
    ("<reply><name>Ada</name>", FormatFailure.Kind.malformed, "line 1, column 23: the element <reply> is not closed"),
    ("<reply><name>Ada</name></reply>", .missing, "reply.level: the value is missing"),
    ("<reply><name>Ada</name><level>x</level></reply>", .mismatch, "reply.level: expected Int, found other text"),
    (String(repeating: "<a>", count: 4000), .limit, "line 1, column 301: the document is nested deeper than 100"),
    ("<!DOCTYPE r [<!ENTITY a 'b'>]><r>&a;</r>", .forbidden, "line 1, column 1: a document type"),
    (
      "<!DOCTYPE r [<!ENTITY a SYSTEM 'file:///etc/passwd'>]><r>&a;</r>", .forbidden,
      "line 1, column 1: a document type"
    ),
    ("", .empty, "the body is empty"),
  ])
  func `invalid XML fails in decoding`(text: String, kind: FormatFailure.Kind, start: String) async throws {
    let server = try Self.server(text)
    let error = await APIClient(baseURL: server.url).outcome(of: Read()).error
    #expect(error?.stage == .decode && error?.code == .decoding)
    #expect((error?.cause as? FormatFailure)?.kind == kind)
    let message = error?.message ?? ""
    #expect(message.hasPrefix("The response could not be decoded as XML: \(start)"), "\(message)")
    #expect(server.requests.count == 1)
  }

  @Test func `request sets the limits`() async throws {
    let server = try Self.server(Self.reply)
    let error = await APIClient(baseURL: server.url).outcome(of: Document(limits: XMLLimits(nodes: 2))).error
    #expect((error?.cause as? FormatFailure)?.kind == .limit)
    #expect(server.requests.count == 1)
  }

  @Test func `error body can be decoded later`() async throws {
    struct Fault: Decodable { let code: Int }
    let server = try LoopbackServer { _ in
      .data("<fault><code>7</code></fault>".utf8, contentType: "text/xml", status: 400)
    }
    let error = await APIClient(baseURL: server.url).outcome(of: Read()).error
    let response = try #require(error?.response)
    #expect(try XMLFormat().decode(Fault.self, from: response.body, of: response).code == 7)
    #expect(server.requests.count == 1)
  }

  @Test func `large document is decoded`() async throws {
    let items = (0..<5_000).map { "<n>\($0)</n>" }.joined()
    struct Numbers: APIRequest {
      var path: Path { "/n" }
      var decoder: ResponseDecoder<[Int]> { .xml() }
    }
    let server = try Self.server("<all>\(items)</all>")
    #expect(try await APIClient(baseURL: server.url).send(Numbers()) == Array(0..<5_000))
    #expect(server.requests.count == 1)
  }
}
