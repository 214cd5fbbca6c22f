import Errand
import ErrandTesting
import Foundation
import Testing

struct HeaderTests {
  @Test func `call overrides request, family and client`() async throws {
    let bench = ScriptedClient { $0.headers = ["X-A": "client", "X-B": "client", "X-C": "client", "X-D": "client"] }
    let family = RequestFamily("f", headers: ["x-b": "family", "x-c": "family", "x-d": "family"])
    let request = Sending(family: family, headers: ["X-C": "request", "X-D": "request"])
    let sent = try await bench.sent(request, options: CallOptions(headers: ["X-d": "call"]))
    #expect(
      ["X-A", "X-B", "X-C", "X-D"].map { sent?.fields[HTTPFieldName($0)] } == ["client", "family", "request", "call"])
    #expect(sent?.fields.all.count { $0.name.rawValue.lowercased().hasPrefix("x-") } == 4)
  }

  @Test func `nil removes at every level`() async throws {
    let bench = ScriptedClient { $0.headers = ["X-A": "client", "X-B": "client", "X-C": "client", "User-Agent": nil] }
    let family = RequestFamily("f", headers: ["X-A": nil])
    let sent = try await bench.sent(
      Sending(family: family, headers: ["x-b": nil, "Accept": nil]), options: CallOptions(headers: ["X-C": nil]))
    #expect(sent?.fields.isEmpty == true)
  }

  @Test func `a name may occur twice`() async throws {
    let sent = try await ScriptedClient { $0.headers = ["X-A": "0"] }.sent(Sending(headers: ["X-A": "1", "x-a": "2"]))
    #expect(sent?.fields.values(of: "X-A") == ["1", "2"])
  }

  @Test func `variables are values`() async throws {
    let (name, number, missing, part) = ("ada", 7, String?.none, "x-y".dropFirst(2))
    let sent = try await ScriptedClient().sent(
      Sending(headers: ["X-A": name, "X-B": number, "X-C": missing, "X-D": .secret(name), "X-E": part]))
    #expect(
      ["X-A", "X-B", "X-C", "X-D", "X-E"].map { sent?.fields[HTTPFieldName($0)] } == ["ada", "7", nil, "ada", "y"])
    #expect(sent?.fields.all.filter(\.isSecret).map(\.name) == ["X-D"])
  }

  @Test func `subscript reads and sets a field`() async throws {
    var headers: RequestHeaders = ["X-A": "1", "X-B": "2"]
    let value = "3"
    headers["x-a"] = value
    headers["X-B"] = nil
    headers["X-C"] = .secret(value)
    #expect(headers["X-A"]?.headerValue == "3" && headers["X-B"] == nil && headers["X-D"] == nil)
    #expect(headers["X-C"]?.headerValue == .secret("3"))
    let bench = ScriptedClient { $0.headers = ["X-B": "client"] }
    let sent = try await bench.sent(Sending(headers: headers))
    #expect(sent?.fields["X-A"] == "3" && sent?.fields.contains("X-B") == false && sent?.fields["X-C"] == "3")
  }

  @Test func `explicit fields replace defaults`() async throws {
    let bench = ScriptedClient { $0.additions.userAgent = "App/1" }
    let plain = try await bench.sent(Sending())
    #expect(plain?.fields[.userAgent] == "App/1" && plain?.fields[.accept] == "*/*")
    let said = try await bench.sent(Sending(headers: ["user-agent": "Mine", "ACCEPT": "image/png"]))
    #expect(said?.fields.values(of: .userAgent) == ["Mine"] && said?.fields.values(of: .accept) == ["image/png"])
    let silent = ScriptedClient { $0.additions.userAgent = "" }
    #expect(try await silent.sent(Sending())?.fields.contains(.userAgent) == false)
  }

  @Test func `accept follows the response type`() async throws {
    let bench = ScriptedClient(answer: { _ in .json("{}") })
    #expect(try await bench.sent(Ask<JSONValue>())?.fields[.accept] == "application/json")
    #expect(try await bench.sent(Ask<String>())?.fields[.accept] == "text/*, */*;q=0.5")
  }

  @Test func `explicit content type replaces the default`() async throws {
    let bench = ScriptedClient()
    let own = try await bench.sent(Sending(method: .post, body: .text("x"), headers: ["content-type": "text/csv"]))
    #expect(own?.fields.values(of: .contentType) == ["text/csv"])
    let removed = try await bench.sent(Sending(method: .post, body: .text("x"), headers: ["Content-Type": nil]))
    #expect(removed?.fields.contains(.contentType) == false)
    let called = try await bench.sent(
      Sending(method: .post, body: .text("x")), options: CallOptions(headers: ["Content-Type": "a/b"]))
    #expect(called?.fields.values(of: .contentType) == ["a/b"])
  }

  @Test func `client's content type counts too`() async throws {
    let set = ScriptedClient { $0.headers = ["Content-Type": "application/vnd.x"] }
    #expect(try await set.sent(Sending(method: .post, body: .text("x")))?.fields[.contentType] == "application/vnd.x")
    let removed = ScriptedClient { $0.headers = ["Content-Type": nil] }
    #expect(try await removed.sent(Sending(method: .post, body: .text("x")))?.fields.contains(.contentType) == false)
  }

  @Test func `values may have non-ASCII characters`() async throws {
    #expect(try await ScriptedClient().sent(Sending(headers: ["X-Name": "中文 é"]))?.fields["x-name"] == "中文 é")
    #expect(try await ScriptedClient().sent(Sending(headers: ["X-Name": ""]))?.fields["x-name"] == "")
    #expect(try await ScriptedClient().sent(Sending(headers: ["X-Name": "a\tb"]))?.fields["x-name"] == "a\tb")
  }

  // MARK: - Credentials

  @Test func `basic and bearer credentials are sent`() async throws {
    let bench = ScriptedClient()
    let basic = try await bench.sent(Sending(credential: .basic(user: "Aladdin", password: "open sesame")))
    #expect(basic?.fields[.authorization] == "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==")
    let unicode = try await bench.sent(Sending(credential: .basic(user: "用户", password: "£")))
    #expect(unicode?.fields[.authorization] == "Basic \(Data("用户:£".utf8).base64EncodedString())")
    for (user, password) in [("a:b", "c"), ("a\n", "c"), ("a", "c\u{7F}")] {
      let error = await bench.failure(of: Sending(credential: .basic(user: user, password: password)))
      #expect(error?.stage == .build && error?.message.contains("basic credential") == true)
    }
    let bearer = try await bench.sent(Sending(credential: .bearer("t0k")))
    #expect(bearer?.fields[.authorization] == "Bearer t0k")
  }

  @Test func `request may decline the client's credential`() async throws {
    let bench = ScriptedClient { $0.credentials = FixedCredential(.bearer("mine")) }
    #expect(try await bench.sent(Sending())?.fields[.authorization] == "Bearer mine")
    #expect(try await bench.sent(Sending(credential: .none))?.fields.contains(.authorization) == false)
    #expect(
      try await bench.sent(Sending(headers: ["authorization": "own"]))?.fields.values(of: .authorization) == ["own"])
    #expect(try await bench.sent(Sending(path: "http://other/"))?.fields.contains(.authorization) == false)
  }

  @Test func `credential with a line break is refused`() async {
    let bench = ScriptedClient()
    let error = await bench.failure(of: Sending(credential: .bearer("MARKER\r\nX: y")))
    #expect(error?.code == .invalidHeader)
    #expect(
      error?.message
        == "The value of the field Authorization holds a control character such as a line break; remove it.")
    #expect(bench.transport.requests.isEmpty)
  }
}
