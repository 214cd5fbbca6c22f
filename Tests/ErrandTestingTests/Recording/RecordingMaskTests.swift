import Errand
import ErrandCache
import ErrandHTTP
import ErrandTesting
import Foundation
import Testing

struct RecordingMaskTests {
  /// The recording of one exchange.
  private func written(
    _ request: HTTPRequest, _ reply: ScriptedAnswer, mask: RecordingMask = RecordingMask()
  ) async throws -> Recording {
    let recorder = RecordingTransport(ScriptedTransport(reply), mask: mask)
    _ = try await recorder.send(Exchange(request: request))
    return try recorder.recording()
  }

  /// The recorded response to a GET request.
  private func masked(_ reply: ScriptedAnswer, mask: RecordingMask = RecordingMask()) async throws -> ScriptedAnswer {
    try await written(HTTPRequest(url: "https://h.example/"), reply, mask: mask).exchanges[0].answer
  }

  /// A POST request with a body.
  private func post(_ body: Data, fields: HTTPFields = HTTPFields()) throws -> HTTPRequest {
    try HTTPRequest(method: .post, url: "https://h.example/", fields: fields, body: HTTPBody(body))
  }

  /// The recorded body of a POST request.
  private func sent(_ body: Data, fields: HTTPFields = HTTPFields()) async throws -> String {
    text(try #require(try await written(post(body, fields: fields), .text("ok")).exchanges[0].request.body?.data))
  }

  private func text(_ body: Data) -> String { String(decoding: body, as: UTF8.self) }

  @Test(arguments: [
    ("Authorization", "Bearer abc", "Bearer masked"),
    ("Authorization", "abc", "masked"),
    ("Proxy-Authorization", "Basic YTpi", "Basic masked"),
    ("Cookie", "sid=abc; theme=dark", "sid=masked; theme=masked"),
    ("X-Api-Key", "abc", "masked"),
    ("X-Device", "abc", "masked"),
    (
      "Referer", "https://u:p@h.example/a?token=abc&b=2#code=1",
      "https://masked@h.example/a?token=masked&b=2#code=masked"
    ),
    ("Referer", "/a?\u{301}x=1&token=\u{301}abc", "/a?\u{301}x=1&token=masked"),
    ("Cookie", "sid=\u{301}abc", "sid=masked"),
    ("X-Page", "2", "2"),
  ])
  func `request fields are masked`(_ name: String, _ value: String, _ expected: String) async throws {
    let field = HTTPField(HTTPFieldName(name), value)
    let request = try HTTPRequest(url: "https://h.example/", fields: HTTPFields([field]))
    let recording = try await written(request, .text("ok"), mask: RecordingMask(fields: ["X-Device"]))
    #expect(recording.exchanges[0].request.fields[field.name] == expected)
  }

  @Test func `a secret before a combining mark is masked`() async throws {
    let request = try HTTPRequest(
      url: "https://h.example/", fields: HTTPFields([HTTPField(.authorization, "Bearer token-12345678")]))
    var reply = ScriptedAnswer.text("token-12345678\u{301} again")
    reply.head.fields.append(HTTPField("X-Echo", "token-12345678\u{301}"))
    let answer = try await written(request, reply).exchanges[0].answer
    #expect(answer.head.fields["X-Echo"] == "masked\u{301}")
    #expect(text(answer.body) == "masked\u{301} again")
  }

  /// Swift treats both secrets as equal texts, but they have different bytes.
  @Test func `canonically equal secrets are both masked`() async throws {
    let secrets = ["token-1234-caf\u{E9}", "token-1234-cafe\u{301}"]
    let fields = HTTPFields(secrets.map { HTTPField("X-Api-Key", $0) })
    let reply = ScriptedAnswer.text(secrets.joined(separator: " and "))
    let answer = try await written(HTTPRequest(url: "https://h.example/", fields: fields), reply).exchanges[0].answer
    #expect(text(answer.body) == "masked and masked")
  }

  @Test(arguments: ["pin\u{301}", "p\u{301}in", "user_Pi\u{200B}n", "token\u{301}", "code_\u{301}verifier"])
  func `an accent hides no secret key`(key: String) async throws {
    let reply = ScriptedAnswer.json(#"{"\#(key)":"abc"}"#)
    let answer = try await written(HTTPRequest(url: "https://h.example/?\(PercentEncoding.value(key))=abc"), reply)
      .exchanges[0]
    #expect(!text(answer.answer.body).contains("abc") && answer.request.url.query?.hasSuffix("=masked") == true)
  }

  @Test func `only the given name is shown`() async throws {
    let reply = ScriptedAnswer.json(#"{"cl\u{E9}_token":"abc"}"#)
    let mask = RecordingMask(shown: ["cle\u{301}_token"])
    let answer = try await masked(reply, mask: mask)
    #expect(!text(answer.body).contains("abc"))
  }

  @Test func `field marked secret is masked`() async throws {
    let fields = HTTPFields([HTTPField("X-Plain", "abc", isSecret: true)])
    let recording = try await written(HTTPRequest(url: "https://h.example/", fields: fields), .text("ok"))
    #expect(recording.exchanges[0].request.fields["X-Plain"] == "masked")
  }

  @Test func `overlapping secrets are masked completely`() async throws {
    let fields = HTTPFields(["abcd-1234-wxyz", "wxyz-5678-efgh"].map { HTTPField("X-Api-Key", $0) })
    let request = try HTTPRequest(url: "https://h.example/", fields: fields)
    let reply = ScriptedAnswer.text("at abcd-1234-wxyz-5678-efgh now")
    let answer = try await written(request, reply).exchanges[0].answer
    #expect(text(answer.body) == "at masked now")
  }

  @Test(arguments: ["%E5%AF%86%E7%A0%81", "%7B%22%7D"])
  func `short escaped secret is kept elsewhere`(_ value: String) async throws {
    let reply = "the word " + (try #require(value.removingPercentEncoding))
    let request = try HTTPRequest(url: "https://h.example/?password=\(value)")
    let exchange = try await written(request, .text(reply)).exchanges[0]
    #expect(exchange.request.url.query == "password=masked")
    #expect(text(exchange.answer.body) == reply)
  }

  @Test(arguments: [
    ("Set-Cookie", "sid=abc; Path=/; HttpOnly", "sid=masked; Path=/; HttpOnly"),
    ("Location", "/done?code=abc&state=1", "/done?code=masked&state=1"),
    ("X-Auth-Token", "abc", "masked"),
    ("Link", #"</items?cursor=3&sig=abc>; rel="next""#, #"</items?cursor=3&sig=masked>; rel="next""#),
  ])
  func `response fields are masked`(_ name: String, _ value: String, _ expected: String) async throws {
    var reply = ScriptedAnswer.text("ok")
    let field = HTTPField(HTTPFieldName(name), value)
    reply.head.fields.append(field)
    reply.trailers.append(field)
    reply.informational = [ResponseHead(status: 103, fields: HTTPFields([field]))]
    let answer = try await masked(reply)
    for fields in [answer.head.fields, answer.trailers, answer.informational[0].fields] {
      #expect(fields[field.name] == expected)
    }
  }

  @Test func `secret value extends to the end of its item`() async throws {
    let reply = ScriptedAnswer.text("a1b2c3d4?e5f6 and a1b2c3d4 and g7h8i9j0")
    var linked = reply
    linked.head.fields.append(HTTPField("Location", "/done?code=g7h8i9j0#top"))
    let request = try HTTPRequest(url: "https://h.example/a?token=a1b2c3d4?e5f6&next=/b?page=2")
    let exchange = try await written(request, linked).exchanges[0]
    #expect(exchange.request.url.string == "https://h.example/a?token=masked&next=/b?page=2")
    #expect(exchange.answer.head.fields[.location] == "/done?code=masked")
    #expect(text(exchange.answer.body) == "masked and a1b2c3d4 and masked")
  }

  @Test func `query is masked by name`() async throws {
    let request = try HTTPRequest(url: "https://h.example/a?page=2&access_token=abc&email=a%40b&e%6Dail=x&key")
    let recording = try await written(request, .text("ok"), mask: RecordingMask(items: ["email"]))
    #expect(
      recording.exchanges[0].request.url.string
        == "https://h.example/a?page=2&access_token=masked&email=masked&e%6Dail=masked&key")
  }

  @Test(arguments: [
    (#"{"a":1, "b":"x"}"#, #"{"a":1, "b":"x"}"#),
    (#"{"password":"x","pin":1234,"token":null,"b":"y"}"#, #"{"b":"y","password":"masked","pin":0,"token":null}"#),
    (#"{"session":{"id":"x","on":true,"n":[1,"y"]}}"#, #"{"session":{"id":"masked","n":[0,"masked"],"on":false}}"#),
    (#"{"users":[{"mail":"a"},{"mail":"b","n":1}]}"#, #"{"users":[{"mail":"masked"},{"mail":"masked","n":1}]}"#),
    (#"{"list":["a","b"]}"#, #"{"list":["a","masked"]}"#),
    (#"[{"mail":"a"}]"#, #"[{"mail":"a"}]"#),
    (#"{"monkey":"x","key":"y"}"#, #"{"key":"y","monkey":"masked"}"#),
    ("{\"token\":\"x\"}\n{\"n\":1}\n", "{\"token\":\"masked\"}\n{\"n\":1}\n"),
    ("{\"n\":1}\n\n{\"token\":\"x\n{\"n\":2}\n", "{\"n\":1}\n\nmasked"),
    (#"{"n":1,"token":"x"#, "masked"),
    ("{\n  \"token\": \"x", "masked"),
    (#"[{"token":"x"}"#, "masked"),
  ])
  func `bodies are masked by name and path`(_ body: String, _ expected: String) async throws {
    let mask = RecordingMask(paths: ["users.mail", "list[1]"], shown: ["key"])
    let exchange = try await written(post(Data(body.utf8)), .json(body), mask: mask).exchanges[0]
    #expect(text(exchange.answer.body) == expected)
    #expect(text(try #require(exchange.request.body?.data)) == expected)
  }

  @Test(arguments: [
    ("data: {\"token\":\"x\"}\n\ndata: plain\n", "data: {\"token\":\"masked\"}\n\ndata: plain\n"),
    ("event: x\r\ndata: {\"token\":\"x\"}\r\n\r\n", "event: x\r\ndata: {\"token\":\"masked\"}\n\r\n"),
    ("data: {\ndata: \"token\":\ndata: \"x\"}\n\n", "data: {\"token\":\"masked\"}\n\n"),
    ("data: {\ndata: \"n\":\ndata: 1}\n\n", "data: {\ndata: \"n\":\ndata: 1}\n\n"),
    ("data: {\"n\":1}\n\ndata: {\"token\":\"x", "data: {\"n\":1}\n\ndata: masked"),
    ("data: {\ndata: \"token\":\"x\n\ndata: y\n", "data: masked\n\ndata: y\n"),
    ("data: [{\"token\":\"x\"}]\n\ndata: [DONE]\n", "data: [{\"token\":\"masked\"}]\n\ndata: [DONE]\n"),
    ("[{\"token\":\"x\"}]\n[info] up\n", "[{\"token\":\"masked\"}]\n[info] up\n"),
    ("up\n{\n  \"token\": \"x\"\n", "up\nmasked"),
    ("\u{FEFF}{\"token\":\"x", "masked"),
    ("a { token: x }", "a { token: x }"),
  ])
  func `JSON lines are masked`(_ body: String, _ expected: String) async throws {
    let exchange = try await written(post(Data(body.utf8)), .text(body)).exchanges[0]
    #expect(text(exchange.answer.body) == expected)
    #expect(text(try #require(exchange.request.body?.data)) == expected)
  }

  @Test(arguments: ["{\"token\":\"x\",\"n\":\"", "data: {\"token\":\"x\"}"])
  func `invalid byte masks the JSON`(_ start: String) async throws {
    let answer = ScriptedAnswer(status: 200, body: Data(start.utf8) + [0xFF] + Data("\"}".utf8))
    #expect(try await text(masked(answer).body) == (start.hasPrefix("data") ? "data: masked" : "masked"))
  }

  @Test(arguments: [
    #"{"token":"s3cret","token":null}"#, #"{"token":null,"token":"s3cret"}"#,
    #"{"a":{"token":"s3cret"},"b":":","a":1}"#, #"[{"a":1,"b":"\"","a":[{"token":"s3cret"}]}]"#,
  ])
  func `repeated member is masked`(_ body: String) async throws {
    #expect(try await !text(masked(.json(body)).body).contains("s3cret"))
  }

  @Test func `image stays unchanged`() async throws {
    let body = Data("\n{".utf8) + [0, 0xFF] + Data("\n[".utf8)
    for answer in [
      ScriptedAnswer(status: 200, body: body),
      ScriptedAnswer(status: 200, fields: ["Content-Type": "image/png"], body: body.filter { $0 != 0 }),
    ] {
      #expect(try await masked(answer).body == answer.body)
    }
  }

  @Test func `JSON in multipart is masked`() async throws {
    let parts = [
      ("name=\"user\"\r\nContent-Type: application/json", #"{"n":1,"password":"abc"}"#),
      ("name=\"cut\"\r\nContent-Type: application/json", #""n":1,"password":"abc""#),
      ("name=\"events\"", "data: {\"password\":\"abc\"}\n"), ("name=\"note\"", "plain"),
    ]
    let body = parts.map { "--b\r\nContent-Disposition: form-data; \($0)\r\n\r\n\($1)\r\n" }.joined() + "--b--\r\n"
    let sent = try await sent(Data(body.utf8), fields: ["Content-Type": "multipart/form-data; boundary=b"])
    #expect(!sent.contains("abc"))
    #expect(sent.contains(#"{"n":1,"password":"masked"}"#) && sent.contains("plain"))
    #expect(sent.hasPrefix("--boundary\r\n") && sent.hasSuffix("plain\r\n--boundary--\r\n"), "\(sent)")
  }

  @Test func `form values are masked`() async throws {
    let fields: HTTPFields = ["Content-Type": "application/x-www-form-urlencoded"]
    let sent = try await sent(Data("user=ada&password=abc&=&x".utf8), fields: fields)
    #expect(sent == "user=ada&password=masked&=&x")
  }

  @Test(arguments: [
    "client_assertion", "assertion", "code_verifier", "device_code", "SAMLResponse", "clientAssertion", "DEVICE-CODE",
  ])
  func `log-in proofs are masked`(_ name: String) async throws {
    let request = try HTTPRequest(
      method: .post, url: "https://h.example/?\(name)=abc&x=1",
      fields: ["Content-Type": "application/x-www-form-urlencoded"], body: HTTPBody(Data("\(name)=abc&x=1".utf8)))
    let exchange = try await written(request, .json(#"{"\#(name)":"abc"}"#)).exchanges[0]
    #expect(exchange.request.url.string == "https://h.example/?\(name)=masked&x=1")
    #expect(text(try #require(exchange.request.body?.data)) == "\(name)=masked&x=1")
    #expect(text(exchange.answer.body) == #"{"\#(name)":"masked"}"#)
    let shown = try await written(request, .text("ok"), mask: RecordingMask(shown: [name])).exchanges[0].request
    #expect(shown.url == request.url)
  }

  @Test func `compressed body is masked completely`() async throws {
    let sent = try await sent(Data([0x1F, 0x8B, 8]), fields: ["Content-Encoding": "gzip"])
    #expect(sent == "masked")
  }

  @Test func `multipart hides secrets and boundary`() async throws {
    func form(_ boundary: String, _ password: String) throws -> HTTPRequest {
      let body = """
        --\(boundary)\r\nContent-Disposition: form-data; name="user"\r\n\r\nada\r\n\
        --\(boundary)\r\nContent-Disposition: form-data; name="password"\r\n\r\n\(password)\r\n--\(boundary)--\r\n
        """
      return try post(Data(body.utf8), fields: ["Content-Type": "multipart/form-data; boundary=\(boundary)"])
    }
    let recording = try await written(form("Zx81", "abc"), .text("ok"))
    let body = text(try #require(recording.exchanges[0].request.body?.data))
    #expect(body.contains("ada") && body.contains("masked") && !body.contains("abc") && !body.contains("Zx81"))
    let replay = ReplayTransport(recording, afterLast: .refused)
    #expect(try await answer(to: form("Qy92", "other"), over: replay) == "ok")
  }

  @Test(arguments: ["name=password", "Name=\"password\"", "filename=\"a\";\tname=\"password\""])
  func `part name needs no quotes`(_ parameters: String) async throws {
    let body = "--b\r\nContent-Disposition: form-data; \(parameters)\r\n\r\nabc\r\n--b--\r\n"
    let sent = try await sent(Data(body.utf8), fields: ["Content-Type": "multipart/form-data; boundary=b"])
    #expect(!sent.contains("abc") && sent.contains("masked"), "\(sent)")
  }

  @Test(arguments: ["", "\r\n", "preamble\r\n", "preamble\r\n\r\n"])
  func `multipart response keeps its bytes`(start: String) async throws {
    let ranges = ["bytes 0-1/9", "bytes 4-5/9"]
    var body = Data(start.utf8)
    for range in ranges {
      body += Data("--Zx81\r\nContent-Range: \(range)\r\n\r\n".utf8) + Data([0xFF, 0, 0x0A]) + Data("\r\n".utf8)
    }
    body += Data("--Zx81--\r\n".utf8)
    let answer = ScriptedAnswer(
      status: 206, fields: ["Content-Type": "multipart/byteranges; boundary=Zx81", "Content-Digest": "sha-256=:x:"],
      body: body)
    let written = try await masked(answer)
    #expect(written.body == body && written.head.fields == answer.head.fields)
  }

  @Test func `multipart response is masked between boundaries`() async throws {
    let head = "--Zx81\r\nContent-Type: application/json\r\n\r\n"
    let answer = ScriptedAnswer(
      status: 200, fields: ["Content-Type": "multipart/mixed; boundary=\"Zx81\""],
      body: Data((head + #"{"password":"abc"}"# + "\r\n--Zx81--\r\n").utf8))
    let written = try await masked(answer)
    #expect(text(written.body) == head + #"{"password":"masked"}"# + "\r\n--Zx81--\r\n")
    #expect(written.head.fields == answer.head.fields)
  }

  @Test func `bytes of a form are kept`() async throws {
    let answer = ScriptedAnswer(
      status: 200, fields: ["Content-Type": "application/x-www-form-urlencoded"],
      body: Data("user=".utf8) + Data([0xE4]) + Data("&x=1".utf8))
    let written = try await masked(answer)
    #expect(written.body == answer.body)
  }

  private func twice(_ type: String) -> HTTPFields {
    HTTPFields([HTTPField(.contentType, type), HTTPField(.contentType, type)])
  }

  @Test func `repeated content type hides secrets`() async throws {
    let form = ScriptedAnswer(
      status: 200, fields: twice("application/x-www-form-urlencoded"), body: Data("user=ada&password=abc".utf8))
    let answer = try await masked(form)
    #expect(text(answer.body) == "user=ada&password=masked")
    let body = "--b\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\nabc\r\n--b--\r\n"
    let request = try post(Data(body.utf8), fields: twice("multipart/form-data; boundary=b"))
    let sent = try await written(request, .text("ok")).exchanges[0].request
    let sentBody = text(try #require(sent.body?.data))
    #expect(!sentBody.contains("abc") && sentBody.contains("masked"), "\(sentBody)")
    #expect(sent.fields == twice("multipart/form-data; boundary=boundary"))
  }

  @Test func `learnt value is masked everywhere`() async throws {
    let recorder = RecordingTransport(
      ScriptedTransport(
        .text("early a1b2c3d4/e"), .json(#"{"access_token":"a1b2c3d4/e"}"#),
        ScriptedAnswer(status: 200, body: Data([0xFF]) + Data("a1b2c3d4/e".utf8)),
        .text("short ab12 word password"), .failure(.reset, "at /a1b2c3d4/e"), .text("small a1b2c3d4%2fe")))
    for path in ["1", "2", "a1b2c3d4%2Fe/3", "4?pwd=ab12&token=password", "5", "6"] {
      _ = try? await recorder.send(Exchange(request: HTTPRequest(url: "https://h.example/\(path)")))
    }
    let exchanges = try recorder.recording().exchanges
    #expect(text(exchanges[0].answer.body) == "early masked")
    #expect(exchanges[2].request.url.path == "/masked/3")
    #expect(exchanges[2].answer.body == Data([0xFF]) + Data("masked".utf8))
    #expect(text(exchanges[3].answer.body) == "short ab12 word password")
    #expect(exchanges[4].answer.failure?.description == "at /masked")
    #expect(text(exchanges[5].answer.body) == "small masked")
  }

  @Test func `learnt URL is masked everywhere`() async throws {
    let recorder = RecordingTransport(
      ScriptedTransport(
        .json(#"{"secret_link":"https://h.example/up/a1b2c3d4?v=2024abcd"}"#), .text("at /up/a1b2c3d4"),
        .text("with v=2024abcd"), .text("ok")))
    for url in [
      "https://h.example/", "https://h.example/up/a1b2c3d4?v=2024abcd", "http://h.example:81/up/a1b2c3d4",
      "https://h.example/up/other",
    ] {
      _ = try await recorder.send(Exchange(request: HTTPRequest(url: url)))
    }
    let exchanges = try recorder.recording().exchanges
    #expect(
      exchanges.map(\.request.url.string) == [
        "https://h.example/", "https://h.example/masked", "http://h.example:81/masked", "https://h.example/up/other",
      ])
    #expect(exchanges[1].request.url.path == "/masked")
    #expect(exchanges[1...2].map { text($0.answer.body) } == ["at /masked", "with masked"])
  }

  @Test func `replay matches another secret`() async throws {
    func request(_ key: String) throws -> HTTPRequest {
      try HTTPRequest(
        method: .post, url: "https://h.example/\(key)?token=\(key)", fields: ["Authorization": "Bearer \(key)"],
        body: HTTPBody(Data(#"{"password":"\#(key)","n":1}"#.utf8)))
    }
    let recording = try await written(request("a1b2c3d4e5"), .text("ok"))
    let replay = ReplayTransport(recording)
    #expect(try await answer(to: request("z9y8x7w6v5"), over: replay) == "ok")
    #expect(try await answer(to: request("masked"), over: replay) == "ok")
  }

  @Test func `masked body corrects its length`() async throws {
    var reply = ScriptedAnswer.json(#"{"id":7,"access_token":"a1b2c3d4e5f6"}"#)
    reply.head.fields[.contentLength] = String(reply.body.count)
    reply.head.fields["Repr-Digest"] = "sha-256=:AAAA:"
    let answer = try await masked(reply)
    #expect(text(answer.body).contains("masked"))
    #expect(answer.head.fields[.contentLength] == String(answer.body.count))
    #expect(answer.head.fields["Repr-Digest"] == nil)
  }

  @Test func `signed URL in response is masked`() async throws {
    let reply = ScriptedAnswer.json(#"{"upload_url":"https://b.example/f?X-Amz-Signature=deadbeef12345678"}"#)
    let answer = try await masked(reply)
    #expect(!text(answer.body).contains("deadbeef12345678"))
  }

  @Test(arguments: [#"{"echo":"my pass word 1234"}"#, #"{"echo":"my+pass+word+1234"}"#])
  func `form secret is masked in response`(body: String) async throws {
    let fields: HTTPFields = ["Content-Type": "application/x-www-form-urlencoded"]
    let request = try post(Data("password=my+pass+word+1234".utf8), fields: fields)
    let answer = try await written(request, .json(body)).exchanges[0].answer
    #expect(!text(answer.body).contains("1234"))
  }
}
