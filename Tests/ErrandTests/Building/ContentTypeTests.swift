import Errand
import ErrandCore
import ErrandTesting
import Foundation
import Testing

/// A content type of the client or of the family labels only bodies whose type the request leaves open.
struct ContentTypeTests {
  private struct Pack: BodyFormat {
    let name = "pack"
    let contentType = "application/x-pack"
    func encode<Value: Encodable>(_ value: Value) throws -> Data { Data() }
  }

  private static let own: [(RequestBody, String)] = [
    (.form(["a": 1]), "application/x-www-form-urlencoded"),
    (.multipart([.text("a", "b")]), "multipart/form-data; boundary="), (.bytes(Data(), type: "image/png"), "image/png"),
    (.text("a,b", type: "text/csv"), "text/csv"), (.encoded(1, as: Pack()), "application/x-pack"),
    (.bytes(Data(), type: "application/octet-stream"), "application/octet-stream"),
    (.text("x", type: "text/plain; charset=utf-8"), "text/plain; charset=utf-8"),
    (.bytes(Data("{}".utf8), type: "application/json"), "application/json"),
    (.body(HTTPBody(Data()), type: "application/octet-stream"), "application/octet-stream"),
    (.file(URL(filePath: #filePath), type: "application/octet-stream"), "application/octet-stream"),
    (.file(URL(filePath: #filePath), type: "application/json"), "application/json"),
  ]

  @Test(arguments: own.indices) func `client's type does not mislabel`(index: Int) async throws {
    let (body, type) = Self.own[index]
    for family in [nil, RequestFamily("f", headers: ["content-type": "application/vnd.api+json"])] {
      let bench = ScriptedClient { $0.headers = ["Content-Type": "application/vnd.api+json"] }
      let sent = try await bench.sent(Sending(method: .post, family: family, body: body))
      #expect(sent?.fields.values(of: .contentType).count == 1)
      #expect(sent?.fields[.contentType]?.hasPrefix(type) == true)
    }
  }

  @Test func `arguments in a form keep their type`() async throws {
    let bench = ScriptedClient { $0.headers = ["Content-Type": "application/json", "X-A": "1"] }
    let sent = try await bench.sent(Sending(method: .post, arguments: ["a": 1]))
    #expect(sent?.fields[.contentType] == "application/x-www-form-urlencoded" && sent?.fields["X-A"] == "1")
  }

  @Test(arguments: [HTTPMethod.get, .post]) func `client's type needs a body`(method: HTTPMethod) async throws {
    for family in [nil, RequestFamily("f", headers: ["content-type": "application/json"])] {
      let bench = ScriptedClient { $0.headers = ["Content-Type": "application/json", "X-A": "1"] }
      let sent = try await bench.sent(Sending(method: method, family: family))
      #expect(sent?.fields.contains(.contentType) == false && sent?.fields["X-A"] == "1")
    }
  }

  private static let open: [RequestBody] = [
    .json(["a": 1]), .text("x"), .bytes(Data()), .body(HTTPBody(Data())), .bytes(Data()).expectingContinue(),
    .stream(isReplayable: true) { try HTTPBody(Data()).open($0) },
  ]

  @Test(arguments: open.indices) func `client's type labels open bodies`(index: Int) async throws {
    let bench = ScriptedClient { $0.headers = ["Content-Type": "application/vnd.api+json"] }
    let sent = try await bench.sent(Sending(method: .post, body: Self.open[index]))
    #expect(sent?.fields[.contentType] == "application/vnd.api+json")
  }

  @Test func `request's type labels every body`() async throws {
    let bench = ScriptedClient { $0.headers = ["Content-Type": "application/json"] }
    let request = Sending(method: .post, body: .form(["a": 1]), headers: ["Content-Type": "text/x-form"])
    #expect(try await bench.sent(request)?.fields[.contentType] == "text/x-form")
    let options = CallOptions(headers: ["Content-Type": "text/x-call"])
    #expect(try await bench.sent(request, options: options)?.fields[.contentType] == "text/x-call")
  }

  /// A multipart form with header fields of the request, and one with header fields of the call.
  private static func forms(with headers: RequestHeaders) -> [(Sending, CallOptions)] {
    let form = RequestBody.multipart([.text("a", "b")])
    return [
      (Sending(method: .post, body: form, headers: headers), CallOptions()),
      (Sending(method: .post, body: form), CallOptions(headers: headers)),
    ]
  }

  @Test(arguments: ["multipart/form-data", "Multipart/Form-Data; boundary=other", "multipart/mixed"])
  func `type without the form's boundary is refused`(type: String) async throws {
    let headers: RequestHeaders = ["Content-Type": type]
    let bench = ScriptedClient()
    for (request, options) in Self.forms(with: headers) {
      let error = await bench.failure(of: request, options: options)
      #expect(error?.stage == .build && error?.code == .invalidHeader)
      #expect(error?.message.contains("Content-Type") == true && error?.message.contains("boundary") == true)
    }
    #expect(bench.transport.requests.isEmpty)
    let written = Sending(method: .post, body: .bytes(Data(), type: "multipart/related; boundary=x"), headers: headers)
    #expect(await bench.failure(of: written)?.code == .invalidHeader)
  }

  @Test func `removed type of a multipart body is refused`() async {
    let bench = ScriptedClient()
    for (request, options) in Self.forms(with: ["Content-Type": nil]) {
      let error = await bench.failure(of: request, options: options)
      #expect(error?.stage == .build && error?.code == .invalidHeader)
      #expect(error?.message.contains("Content-Type is removed") == true)
    }
    #expect(bench.transport.requests.isEmpty)
  }

  private static let texts: [RequestBody] = [
    .text("caf\u{E9}"), .text("caf\u{E9}", type: "text/plain; charset=utf-8"), .json(["name": "caf\u{E9}"]),
  ]

  @Test(arguments: texts.indices) func `wrong charset of a text is refused`(index: Int) async {
    let bench = ScriptedClient()
    let headers: RequestHeaders = ["Content-Type": "text/plain; charset=\"GBK\""]
    let error = await bench.failure(of: Sending(method: .post, body: Self.texts[index], headers: headers))
    #expect(error?.stage == .build && error?.code == .invalidHeader)
    #expect(error?.message.contains("the charset \"gbk\"") == true)
    #expect(bench.transport.requests.isEmpty)
  }

  @Test func `wrong charset of a form is refused`() async throws {
    let bench = ScriptedClient()
    let headers: RequestHeaders = ["Content-Type": "application/x-www-form-urlencoded; charset=gbk"]
    for body in [nil, RequestBody.form(["q": "caf\u{E9}"])] {
      let request = Sending(method: .post, arguments: ["q": "caf\u{E9}"], body: body, headers: headers)
      let error = await bench.failure(of: request)
      #expect(error?.code == .invalidHeader && bench.transport.requests.isEmpty)
    }
    let sent = try await bench.sent(Sending(method: .post, arguments: ["q": "100% a&~\u{7F}"], headers: headers))
    #expect(sent?.text == "q=100%25+a%26~%7F")
  }

  @Test func `other charsets are sent`() async throws {
    let bench = ScriptedClient()
    let cases: [(RequestBody, String)] = [
      (.text("cafe"), "text/plain; charset=gbk"), (.json(["a": 1]), "application/json; charset=gbk"),
      (.bytes(Data([0xE9])), "text/plain; charset=iso-8859-1"), (.text("caf\u{E9}"), "text/plain; charset=UTF-8"),
      (.text("caf\u{E9}"), "text/csv; header=present"),
    ]
    for (body, type) in cases {
      let sent = try await bench.sent(Sending(method: .post, body: body, headers: ["Content-Type": type]))
      #expect(sent?.fields[.contentType] == type)
    }
  }

  @Test func `type with the body's boundary is sent`() async throws {
    let bench = ScriptedClient()
    let headers: RequestHeaders = ["Content-Type": "multipart/mixed; boundary=x"]
    let written = Sending(method: .post, body: .bytes(Data(), type: "multipart/related; boundary=x"), headers: headers)
    #expect(try await bench.sent(written)?.fields[.contentType] == "multipart/mixed; boundary=x")
    let stored = Sending(
      method: .post, body: .multipart([.text("a", "b")]), headers: ["Content-Type": "application/octet-stream"])
    #expect(try await bench.sent(stored)?.fields[.contentType] == "application/octet-stream")
  }
}
