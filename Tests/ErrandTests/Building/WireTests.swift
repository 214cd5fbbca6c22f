import Errand
import ErrandTesting
import Foundation
import Testing

/// The bytes that a real server receives over libcurl and a socket.
struct WireTests {
  static func client(_ server: LoopbackServer, _ change: (inout ClientConfiguration) -> Void = { _ in }) -> APIClient {
    var configuration = ClientConfiguration(baseURL: server.url)
    change(&configuration)
    return APIClient(configuration)
  }

  @Test func `request line has the built URL`() async throws {
    let server = try LoopbackServer { _ in .ok() }
    let variable = "a/b 中?#%"
    _ = try await Self.client(server).send(
      Sending(path: "/x/../y//\(variable)/./z", arguments: ["q": "中 +&=😀\"'%"]))
    let seen = try await server.request(number: 1)
    #expect(
      seen.target
        == "/x/../y//a%2Fb%20%E4%B8%AD%3F%23%25/./z?q=%E4%B8%AD%20%2B%26%3D%F0%9F%98%80%22%27%25")
    #expect(seen.method == "GET" && seen.bodyLength == 0)
  }

  @Test func `no field is added`() async throws {
    let server = try LoopbackServer { _ in .ok() }
    _ = try await Self.client(server) { $0.additions.userAgent = "" }.send(
      Sending(headers: ["Accept": nil, "Accept-Encoding": nil, "X-A": "1", "x-b": "中"]))
    let seen = try await server.request(number: 1)
    let names = String(decoding: seen.head, as: UTF8.self).split(separator: "\r\n").dropFirst().compactMap {
      $0.split(separator: ":").first.map(String.init)
    }
    #expect(names.sorted() == ["Host", "X-A", "x-b"])
    #expect(seen.headers["x-b"] == "中")
  }

  @Test(arguments: [HTTPMethod.post, .put, .patch, .delete, "REPORT"])
  func `bodies arrive unchanged`(method: HTTPMethod) async throws {
    let server = try LoopbackServer { _ in .ok() }
    let bytes = Data((0..<5_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
    _ = try await Self.client(server).send(Sending(method: method, body: .bytes(bytes)))
    let seen = try await server.request(number: 1)
    #expect(seen.method == method.rawValue && seen.body == Array(bytes))
    #expect(seen.headers["Content-Type"] == "application/octet-stream" && seen.headers["Content-Length"] == "5000")
  }

  @Test func `POST without a body is empty`() async throws {
    let server = try LoopbackServer { _ in .ok() }
    _ = try await Self.client(server).send(Sending(method: .post))
    let seen = try await server.request(number: 1)
    #expect(seen.headers["Content-Length"] == "0" && seen.headers["Content-Type"] == nil && seen.bodyLength == 0)
  }

  @Test func `empty field is sent`() async throws {
    let server = try LoopbackServer { _ in .ok() }
    _ = try await Self.client(server).send(Sending(headers: ["X-Empty": ""]))
    #expect(try await server.request(number: 1).headers["X-Empty"]?.isEmpty == true)
  }

  @Test func `refused request opens no connection`() async throws {
    let server = try LoopbackServer { _ in .ok() }
    let client = Self.client(server)
    for request in [
      Sending(method: "GE T"), Sending(headers: ["X": "a\r\nY: b"]), Sending(path: "/a/\("..")"),
      Sending(arguments: ["n": Double.nan]), Sending(headers: ["Content-Length": "1"]),
    ] {
      #expect(await client.outcome(of: request).error?.stage == .build)
    }
    #expect(server.connectionCount == 0)
  }

  @Test func `secrets are not sent to another port`() async throws {
    let away = try LoopbackServer { _ in .ok("away") }
    let target = "\(away.url)/x"
    let home = try LoopbackServer { _ in .redirect(to: target) }
    let client = Self.client(home) {
      $0.headers = ["X-Api-Key": .secret("MARKER"), "Cookie": "MARKER", "X-Plain": "p"]
      $0.credentials = FixedCredential(.bearer("MARKER"))
    }
    #expect(try await client.send(Ask<String>()) == "away")
    let first = String(decoding: try await home.request(number: 1).head, as: UTF8.self)
    let second = try await away.request(number: 1)
    #expect(first.split(separator: "MARKER", omittingEmptySubsequences: false).count == 4)
    #expect(!String(decoding: second.head, as: UTF8.self).contains("MARKER"))
    #expect(second.headers["X-Plain"] == "p" && second.headers["Referer"] == nil)
  }

  @Test func `redirected POST arrives once`() async throws {
    let server = try LoopbackServer { request in
      request.path == "/p" ? .redirect(to: "/done", status: 303) : .ok("done")
    }
    #expect(try await Self.client(server).send(Ask<String>(method: .post, arguments: ["a": 1])) == "done")
    #expect(server.requests.map { "\($0.method) \($0.path) \($0.bodyText)" } == ["POST /p a=1", "GET /done "])
  }

  @Test func `text is decoded by its charset`() async throws {
    let server = try LoopbackServer { _ in
      .data([0xD6, 0xD0, 0xCE, 0xC4], contentType: "text/plain; charset=gb2312")
    }
    #expect(try await Self.client(server).send(Ask<String>()) == "中文")
  }

  @Test func `HEAD has no body to validate`() async throws {
    let server = try LoopbackServer { _ in .status(200, headers: ["Content-Length": "5"]) }
    let response = try await Self.client(server).response(Sending(method: .head))
    #expect(response.status == 200 && response.value.isEmpty)
  }
}
