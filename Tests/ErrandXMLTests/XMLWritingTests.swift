import Errand
import ErrandTesting
import ErrandXML
import Foundation
import Testing

struct XMLWritingTests {
  struct Post: APIRequest {
    let document: XMLValue
    var path: Path { "/p" }
    var method: HTTPMethod { .post }
    var body: RequestBody? { .xml(document) }
    var decoder: ResponseDecoder<XMLValue> { .xml() }
  }

  static func text(_ value: XMLValue) throws -> String { String(decoding: try value.serialized(), as: UTF8.self) }

  @Test func `special characters are escaped`() throws {
    let value = XMLValue(
      "a", attributes: ["y": "<\"&\n", "x": "1"], content: [.text("<&>\r\n"), .element(XMLValue("b"))])
    #expect(
      try Self.text(value) == "<?xml version=\"1.0\" encoding=\"UTF-8\"?>"
        + "<a x=\"1\" y=\"&lt;&quot;&amp;&#10;\">&lt;&amp;&gt;&#13;\n<b/></a>")
  }

  @Test func `namespaces are declared where they change`() throws {
    let inner = XMLValue("c", namespace: "u", content: [.element(XMLValue("d"))])
    let value = XMLValue("a", content: [.element(XMLValue("b", namespace: "u", content: [.element(inner)]))])
    #expect(try Self.text(value).hasSuffix("<a><b xmlns=\"u\"><c><d xmlns=\"\"/></c></b></a>"))
  }

  @Test(arguments: [
    "<a x='&#9;&#10;&#13;\"&lt;'>t&#13;\n&amp;]]&gt;<b>中😀</b></a>",
    "<p:a xmlns:p='urn:p' y='1'><b xmlns='urn:q'/><p:c/></p:a>", "<a> <b/>\n</a>",
  ])
  func `parsed documents can be written`(text: String) throws {
    let value = try XMLValue(parsing: Data(text.utf8))
    #expect(try XMLValue(parsing: value.serialized()) == value)
  }

  @Test func `document is sent as XML`() async throws {
    let server = try LoopbackServer { request in
      .data(request.body, contentType: request.headers["Content-Type"] ?? "none")
    }
    let value = XMLValue("a", content: [.text("tea & cake")])
    let response = try await APIClient(baseURL: server.url).response(Post(document: value))
    #expect(response.value == value && response.fields[.contentType] == "application/xml")
    #expect(server.requests.count == 1)
  }

  @Test func `other charset than UTF-8 is refused`() async {
    struct Labelled: APIRequest {
      let path: Path = "/p"
      let method: HTTPMethod = .post
      var body: RequestBody? { .xml(XMLValue("a", content: [.text("caf\u{E9}")]), type: "text/xml; charset=gbk") }
    }
    let transport = ScriptedTransport { _ in .status(200) }
    var configuration = ClientConfiguration(baseURL: "http://h.example")
    configuration.transport = .own(transport)
    let error = await APIClient(configuration).outcome(of: Labelled()).error
    #expect(error?.code == .invalidHeader && transport.requests.isEmpty)
  }

  @Test(arguments: [
    (XMLValue(""), "\"\" is not a valid name"), (XMLValue("a b"), "\"a b\" is not a valid name"),
    (XMLValue("1"), "\"1\" is not a valid name"),
    (XMLValue("a", attributes: ["x=": ""]), "a: \"x=\" is not a valid name"),
    (XMLValue("a", content: [.element(XMLValue("<b"))]), "a.<b: \"<b\" is not a valid name"),
    (XMLValue("a", content: [.text("x\0")]), "a: XML does not allow the character U+0"),
    (XMLValue("a", attributes: ["x": "\u{FFFE}"]), "a: XML does not allow the character U+FFFE"),
  ])
  func `unwritable document is never sent`(document: XMLValue, words: String) async {
    let transport = ScriptedTransport { _ in .status(200) }
    var configuration = ClientConfiguration(baseURL: "http://h.example")
    configuration.transport = .own(transport)
    let error = await APIClient(configuration).outcome(of: Post(document: document)).error
    #expect(error?.stage == .build && error?.code == .invalidBody && transport.requests.isEmpty)
    #expect(error?.message.contains("The body could not be encoded as XML: ") == true)
    #expect(error?.message.contains(words) == true, "\(error?.message ?? "none")")
  }
}
