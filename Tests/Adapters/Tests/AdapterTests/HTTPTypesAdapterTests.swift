import Errand
import ErrandAdapters
import Foundation
import HTTPTypes
import Testing

struct HTTPTypesAdapterTests {
  private func name(_ text: String) throws -> HTTPTypes.HTTPField.Name { try #require(HTTPTypes.HTTPField.Name(text)) }

  @Test func `order and repetition are kept`() throws {
    let fields = Errand.HTTPFields([
      Errand.HTTPField("B", "1"), Errand.HTTPField("a", "2"), Errand.HTTPField("b", "3"), Errand.HTTPField("c", ""),
    ])
    let converted = try HTTPTypes.HTTPFields(fields)
    #expect(converted.map(\.name.rawName) == ["B", "a", "b", "c"])
    #expect(converted.map(\.value) == ["1", "2", "3", ""])
    #expect(converted[values: try name("b")] == ["1", "3"])
    #expect(try Errand.HTTPFields(converted) == fields)
  }

  @Test(arguments: ["!#$%&'*+-.^_`|~", "X-1"])
  func `every token is a name`(_ text: String) throws {
    let field = Errand.HTTPField(Errand.HTTPFieldName(text), "v")
    let converted = try HTTPTypes.HTTPField(field)
    #expect(converted.name.rawName == text)
    #expect(try Errand.HTTPField(converted) == field)
  }

  @Test(arguments: ["", "a b", "a:b", "n\u{E4}me", "a\r\nb", ":path", "a\0"])
  func `other names are rejected`(_ text: String) {
    let error = #expect(throws: HTTPConversionError.self) {
      try HTTPTypes.HTTPField(Errand.HTTPField(Errand.HTTPFieldName(text), "v"))
    }
    #expect(error?.part == .field)
  }

  @Test(arguments: ["a\r\nX: y", "a\0b", " a", "a\t", "\u{7F}"])
  func `values that would change are rejected`(_ value: String) {
    let error = #expect(throws: HTTPConversionError.self) {
      try HTTPTypes.HTTPFields(Errand.HTTPFields([Errand.HTTPField("Odd", value)]))
    }
    #expect(error?.part == .field)
    #expect(error?.description.contains("Odd") == true)
  }

  @Test func `text beyond ASCII is kept`() throws {
    let field = Errand.HTTPField("Title", "\u{E9} \u{2602}\u{FE0F}")
    #expect(try Errand.HTTPField(HTTPTypes.HTTPField(field)) == field)
  }

  @Test func `value that is not UTF-8 is rejected`() throws {
    let field = HTTPTypes.HTTPField(name: try name("Odd"), value: [0x61, 0xE9])
    #expect(throws: HTTPConversionError.self) { try Errand.HTTPField(field) }
  }

  @Test func `secret fields are never indexed`() throws {
    let secret = Errand.HTTPField("X-Key", "k", isSecret: true)
    let converted = try HTTPTypes.HTTPField(secret)
    #expect(converted.indexingStrategy == .disallow)
    #expect(try Errand.HTTPField(converted).isSecret)
    #expect(try HTTPTypes.HTTPField(Errand.HTTPField("X-Key", "k")).indexingStrategy == .automatic)
    let plain = HTTPTypes.HTTPField(name: .authorization, value: "Bearer t")
    #expect(try Errand.HTTPField(plain).isSecret)
  }

  @Test func `too many fields are rejected`() {
    let field = Errand.HTTPField("A", "b")
    #expect(throws: HTTPConversionError.self) {
      try HTTPTypes.HTTPFields(Errand.HTTPFields(Array(repeating: field, count: 65_001)))
    }
  }

  // MARK: - Requests

  @Test(arguments: [
    ("https://api.example.com/a%2Fb?q=1&q=2", "api.example.com", "/a%2Fb?q=1&q=2"),
    ("http://127.0.0.1:8080/a?", "127.0.0.1:8080", "/a?"), ("https://[::1]:8443/", "[::1]:8443", "/"),
  ])
  func `request keeps its URL`(_ text: String, _ authority: String, _ path: String) throws {
    let request = try Errand.HTTPRequest(method: "PURGE", url: text, fields: ["X-A": "1"])
    let converted = try HTTPTypes.HTTPRequest(request)
    #expect(converted.method.rawValue == "PURGE")
    #expect(converted.authority == authority)
    #expect(converted.path == path)
    let back = try Errand.HTTPRequest(converted, body: Errand.HTTPBody(Data([1])))
    #expect(back.url == request.url)
    #expect(back.method == request.method)
    #expect(back.fields == request.fields)
    #expect(back.body?.data == Data([1]))
  }

  @Test func `empty path becomes a slash`() throws {
    #expect(try HTTPTypes.HTTPRequest(Errand.HTTPRequest(url: "https://a.example")).path == "/")
    #expect(try HTTPTypes.HTTPRequest(Errand.HTTPRequest(url: "https://a.example?b")).path == "/?b")
  }

  private static let odd: [(scheme: String?, authority: String?, path: String?)] = [
    (nil, "a.example", "/"), ("https", nil, "/"), ("https", "a.example", nil), ("https", "a.example", "*"),
    ("https", "a.example", ""), ("ftp", "a.example", "/"), ("https", "user@a.example", "/"),
    ("https", "a.example/x", "/"), ("https", "", "/"), ("https", "a.example:99999", "/"),
    ("https", "a.example", "/issues#7?page=2"),
  ]

  @Test(arguments: 0..<11)
  func `request without an address is rejected`(_ index: Int) {
    let (scheme, authority, path) = Self.odd[index]
    let error = #expect(throws: HTTPConversionError.self) {
      try Errand.HTTPRequest(HTTPTypes.HTTPRequest(method: .get, scheme: scheme, authority: authority, path: path))
    }
    #expect(error?.part == .url)
  }

  @Test func `odd methods are rejected`() throws {
    let tunnel = HTTPTypes.HTTPRequest(method: .connect, scheme: "https", authority: "a.example", path: "/")
    #expect(throws: HTTPConversionError.self) { try Errand.HTTPRequest(tunnel) }
    let spaced = try Errand.HTTPRequest(method: "GET /", url: "https://a.example/")
    #expect(throws: HTTPConversionError.self) { try HTTPTypes.HTTPRequest(spaced) }
  }

  // MARK: - Responses

  @Test func `response keeps status, reason and fields`() throws {
    let head = ResponseHead(status: 418, reason: "I'm a teapot", fields: ["Set-Cookie": "a=1", "set-cookie": "b=2"])
    let converted = try HTTPTypes.HTTPResponse(head)
    #expect(converted.status.code == 418)
    #expect(converted.status.reasonPhrase == "I'm a teapot")
    #expect(try ResponseHead(converted) == head)
    let url = try HTTPURL("https://a.example/")
    let response = try Errand.HTTPResponse(converted, body: Data([7]), url: url)
    #expect(response.head == head)
    #expect(response.body == Data([7]))
    #expect(try HTTPTypes.HTTPResponse(response).headerFields.count == 2)
  }

  @Test func `statuses without three digits are rejected`() {
    #expect(throws: HTTPConversionError.self) { try HTTPTypes.HTTPResponse(ResponseHead(status: 1_000)) }
    #expect(throws: HTTPConversionError.self) { try HTTPTypes.HTTPResponse(ResponseHead(status: -1)) }
    #expect(throws: HTTPConversionError.self) { try ResponseHead(HTTPTypes.HTTPResponse(status: 99)) }
  }
}
