import Errand
import ErrandHTTP
import Foundation
import Testing

@Suite(.serialized) struct HTTPBinTests {
  @Test(arguments: ["GET", "POST", "PUT", "PATCH", "DELETE"])
  func `every method arrives unchanged`(method: String) async throws {
    let answer = try await Servers.httpbin().send(Inquiry("/anything") { $0.method = HTTPMethod(method) })
    #expect(answer["method"]?.stringValue == method)
  }

  @Test func `HEAD has fields and no body`() async throws {
    let answer = try await Servers.httpbin().response(BytesProbe(path: "/range/100", method: .head))
    #expect(answer.value.isEmpty)
    #expect(answer.fields[.contentLength] == "100")
  }

  @Test func `arguments arrive in the query`() async throws {
    let text = "中文 +&=%/?#\"é🚀"
    let answer = try await Servers.httpbin().send(
      Inquiry("/get") { $0.arguments = ["q": text, "n": 7, "no": Bool?.none] })
    #expect(answer["args"] == ["q": .string(text), "n": "7"])
  }

  @Test func `arguments arrive in a form`() async throws {
    let text = "中文 +&=%/?#\"é🚀"
    let probe = Inquiry("/post") {
      $0.method = .post
      $0.arguments = ["q": text, "tags": ["a", "b"]]
    }
    let answer = try await Servers.httpbin().send(probe)
    #expect(answer["form"] == ["q": .string(text), "tags": ["a", "b"]])
    #expect(answer["headers"]["Content-Type"]?.stringValue == "application/x-www-form-urlencoded")
  }

  @Test func `JSON arrives as JSON`() async throws {
    let probe = Inquiry("/put") {
      $0.method = .put
      $0.argumentFormat = .json
      $0.arguments = ["name": "Ada", "age": 36, "ok": true, "tags": ["a"], "nested": ["x": 1.5]]
    }
    let answer = try await Servers.httpbin().send(probe)
    #expect(answer["json"] == ["name": "Ada", "age": 36, "ok": true, "tags": ["a"], "nested": ["x": 1.5]])
  }

  @Test func `DELETE may have a body`() async throws {
    let probe = Inquiry("/delete") {
      $0.method = .delete
      $0.body = .json(["ids": [1, 2]])
      $0.arguments = ["soft": true]
    }
    let answer = try await Servers.httpbin().send(probe)
    #expect(answer["json"] == ["ids": [1, 2]])
    #expect(answer["args"] == ["soft": "true"])
  }

  @Test func `text and bytes arrive unchanged`() async throws {
    let client = try Servers.httpbin()
    let text = try await client.send(
      Inquiry("/post") {
        $0.method = .post
        $0.body = .text("héllo")
      })
    #expect(text["data"]?.stringValue == "héllo")
    let bytes = try await client.send(
      Inquiry("/post") {
        $0.method = .post
        $0.body = .bytes(Data([0, 255, 13, 10]))
      })
    #expect(bytes["data"]?.stringValue == "data:application/octet-stream;base64,AP8NCg==")
  }

  @Test func `fields are replaced, added and removed`() async throws {
    let client = try Servers.httpbin {
      $0.headers = ["X-Client": "client", "X-Gone": "client", "X-Kept": "client"]
    }
    let answer = try await client.send(Inquiry("/headers") { $0.headers = ["X-Client": "request", "x-gone": nil] })
    #expect(answer["headers"]["X-Client"]?.stringValue == "request")
    #expect(answer["headers"]["X-Kept"]?.stringValue == "client")
    #expect(answer["headers"]["X-Gone"] == nil)
  }

  @Test func `basic credential is accepted`() async throws {
    let client = try Servers.httpbin()
    let probe = Inquiry("/basic-auth/ada/s%C3%A9cret") { $0.credential = .basic(user: "ada", password: "sécret") }
    #expect(try await client.send(probe)["authenticated"] == true)
    let refused = try await failure(client, Inquiry("/basic-auth/ada/secret"))
    #expect(refused.code == .status)
    #expect(refused.status == 401)
  }

  @Test func `bearer credential is taken from the provider`() async throws {
    let client = try Servers.httpbin { $0.credentials = FixedCredential(.bearer("token-1"), account: "ada") }
    #expect(try await client.send(Inquiry("/bearer"))["token"]?.stringValue == "token-1")
  }

  @Test(arguments: [400, 401, 403, 404, 409, 418, 429, 500, 502, 503, 504])
  func `error status is named in the error`(status: Int) async throws {
    let error = try await failure(Servers.httpbin(), Inquiry("/status/\(status)"))
    #expect(error.stage == .validate)
    #expect(error.code == .status)
    #expect(error.status == status)
    #expect(error.message.contains("\(status)"))
  }

  @Test func `custom status rule is used`() async throws {
    let answer = try await Servers.httpbin().response(StatusProbe(status: 404, statusRule: [404]))
    #expect(answer.status == 404)
    let error = try await failure(Servers.httpbin(), StatusProbe(status: 200, statusRule: [404]))
    #expect(error.message.contains("expected 404"))
  }

  @Test func `deadline ends a delayed response`() async throws {
    let error = try await failure(Servers.httpbin(), Inquiry("/delay/2"), .deadline(.milliseconds(300)))
    #expect(error.stage == .deadline)
    #expect(error.request?.url.path == "/delay/2")
  }

  @Test(arguments: ["/redirect/3", "/relative-redirect/3", "/absolute-redirect/3"])
  func `redirects are followed and counted`(path: String) async throws {
    let answer = try await Servers.httpbin().response(Inquiry(RequestPath(path)))
    #expect(answer.raw.url.path == "/get")
    #expect(answer.metrics.redirects == 3)
    #expect(answer.metrics.exchanges.count == 4)
  }

  @Test func `too many redirects fail`() async throws {
    let error = try await failure(Servers.httpbin(), Inquiry("/redirect/11"))
    #expect(error.code == .tooManyRedirects)
  }

  @Test(arguments: [(301, "GET"), (302, "GET"), (303, "GET"), (307, "POST"), (308, "POST")])
  func `redirected POST follows RFC 9110`(status: Int, method: String) async throws {
    let probe = Inquiry("/redirect-to") {
      $0.method = .post
      $0.argumentFormat = .query
      $0.arguments = ["url": "/anything", "status_code": status]
      $0.body = .text("body")
    }
    let answer = try await Servers.httpbin().send(probe)
    #expect(answer["method"]?.stringValue == method)
    #expect(answer["data"]?.stringValue == (method == "POST" ? "body" : ""))
  }

  @Test func `manual redirect is delivered`() async throws {
    let probe = RedirectProbe(redirects: .manual, statusRule: .range(300...399))
    let answer = try await Servers.httpbin().response(probe)
    #expect(answer.status == 302)
    #expect(answer.fields[.location] != nil)
  }

  @Test(arguments: [("/gzip", "gzipped"), ("/deflate", "deflated"), ("/brotli", "brotli")])
  func `content codings are decoded`(path: String, mark: String) async throws {
    let answer = try await Servers.httpbin().send(Inquiry(RequestPath(path)))
    #expect(answer[mark] == true)
  }

  @Test func `text keeps its characters`() async throws {
    let text = try await Servers.httpbin().send(TextProbe(path: "/encoding/utf8"))
    #expect(text.contains("STARGΛ̊TE"))
    #expect(try await Servers.httpbin().send(TextProbe(path: "/xml")).contains("<slideshow"))
  }

  @Test func `JSON value is read by path`() async throws {
    let answer = try await Servers.httpbin().send(Inquiry("/json"))
    #expect(answer.value(at: "slideshow.slides[1].items[0]")?.stringValue == "Why <em>WonderWidgets</em> are great")
  }

  @Test func `shape error names its path`() async throws {
    let error = try await failure(Servers.httpbin(), ShapeProbe())
    #expect(error.code == .shape)
    #expect(error.message.contains("$.slideshow.author: expected a number"))
  }

  @Test func `HTML is not JSON`() async throws {
    let error = try await failure(Servers.httpbin(), Inquiry("/html"))
    #expect(error.stage == .decode)
  }

  @Test func `large bodies are complete`() async throws {
    let body = try await Servers.httpbin().send(BytesProbe(path: "/range/10000"))
    #expect(body.count == 10_000)
    let streamed = try await Servers.httpbin().send(BytesProbe(path: "/stream-bytes/50000"))
    #expect(streamed.count == 50_000)
  }

  @Test func `large upload is complete`() async throws {
    let text = String(repeating: "0123456789", count: 300_000)
    let probe = Inquiry("/put") {
      $0.method = .put
      $0.body = .text(text)
    }
    let answer = try await Servers.httpbin().response(probe)
    #expect(answer.value["data"]?.stringValue == text)
    #expect((answer.metrics.exchanges.first?.bytesSent ?? 0) > text.utf8.count)
  }

  @Test func `cookies are off by default`() async throws {
    let client = try Servers.httpbin()
    _ = try await client.send(Inquiry("/cookies/set/a/b"))
    #expect(try await client.send(Inquiry("/cookies"))["cookies"] == [:])
  }

  @Test func `cancel ends a running call`() async throws {
    let client = try Servers.httpbin()
    let task = Task { await client.outcome(of: Inquiry("/delay/2"), options: .tag("slow")) }
    while client.running.isEmpty { await Task.yield() }
    #expect(client.cancel(tag: "slow") == 1)
    #expect(await task.value.error?.isCancelled == true)
    #expect(client.running.isEmpty)
  }
}

private struct StatusProbe: APIRequest {
  let status: Int
  let statusRule: StatusRule
  var path: Path { "/status/\(status)" }
  var validation: ResponseValidation { ResponseValidation(status: statusRule) }
  typealias Response = Nothing
}

private struct RedirectProbe: APIRequest {
  let redirects: RedirectPolicy
  let statusRule: StatusRule
  var path: Path { "/redirect/1" }
  var validation: ResponseValidation { ResponseValidation(status: statusRule) }
}

private struct ShapeProbe: APIRequest {
  var path: Path { "/json" }
  var validation: ResponseValidation { ResponseValidation(shape: ["slideshow": ["author": .number]]) }
  typealias Response = JSONValue
}
