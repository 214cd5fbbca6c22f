@testable import ErrandCore
import Errand
import ErrandTesting
import Foundation
import Testing

/// Cookies over real sockets.
struct CookieSocketTests {
  private struct Get: APIRequest {
    typealias Response = String
    var path: Path
    var method = HTTPMethod.get
    var joining = JoinRule.never
    var overlap: Overlap { Overlap(joining: joining) }
  }

  /// Sets the cookies that the query names, and responds with the cookies of the request.
  private static func server() throws -> LoopbackServer {
    try LoopbackServer { request in
      let cookies = request.headers["Cookie"] ?? ""
      let query = request.target.split(separator: "?").last.map(String.init) ?? ""
      switch request.path {
      case "/set": return .ok(cookies).setting("Set-Cookie", to: query)
      case "/login": return .redirect(to: "/home", status: 303).setting("Set-Cookie", to: "sid=1; HttpOnly; Path=/")
      case "/guarded": return cookies.contains("sid=1") ? .ok("in") : .status(401)
      default: return .ok(cookies)
      }
    }
  }

  private func client(_ server: LoopbackServer, _ jar: CookieJar) -> APIClient {
    var configuration = ClientConfiguration(baseURL: server.url)
    configuration.cookies = .jar(jar)
    configuration.admission = AdmissionLimits(perHost: 32, total: 32)
    return APIClient(configuration)
  }

  @Test func `login cookie is sent with next page`() async throws {
    let (server, jar) = (try Self.server(), CookieJar())
    let client = client(server, jar)
    #expect(await client.outcome(of: Get(path: "/guarded")).error?.status == 401)
    #expect(
      try await client.send(Get(path: "/login", method: .post)) == "sid=1", "the redirected request carries the cookie")
    #expect(try await client.send(Get(path: "/guarded")) == "in")
    jar.removeAll()
    #expect(await client.outcome(of: Get(path: "/guarded")).error?.status == 401)
  }

  @Test func `ports share cookies and hosts do not`() async throws {
    let (first, second, jar) = (try Self.server(), try Self.server(), CookieJar())
    _ = try await client(first, jar).send(Get(path: "/set?a=1"))
    #expect(try await client(second, jar).send(Get(path: "/")) == "a=1", "RFC 6265 does not distinguish ports")
    let elsewhere = second.url.replacing("127.0.0.1", with: "localhost")
    #expect(try await client(second, jar).send(Get(path: RequestPath(elsewhere + "/"))) == "")
  }

  @Test func `cookie without SameSite is lax`() async throws {
    let (target, jar) = (try Self.server(), CookieJar())
    let start = try LoopbackServer { [url = target.url] _ in .redirect(to: url + "/", status: 307) }
    jar.set(try Cookie("sid", "1", host: "127.0.0.1", isSecure: false))
    let client = client(start, jar)
    #expect(try await client.send(Get(path: "/")) == "sid=1")
    #expect(try await client.send(Get(path: "/", method: .post)) == "")
  }

  @Test func `secure cookie is never sent in cleartext`() async throws {
    let (server, jar) = (try Self.server(), CookieJar())
    jar.set(try Cookie("sid", "1", host: "127.0.0.1"))
    let client = client(server, jar)
    #expect(try await client.send(Get(path: "/")) == "")
    _ = try await client.send(Get(path: "/set?sid=stolen;Path=/"))
    #expect(jar.all.map(\.value) == ["1"])
  }

  @Test func `a thousand concurrent calls share a jar`() async throws {
    let (server, jar) = (try Self.server(), CookieJar())
    let client = client(server, jar)
    await withTaskGroup { group in
      for number in 0..<1_000 {
        group.addTask {
          let path = RequestPath("/set?c\(number % 40)=\(number);Path=/")
          #expect(await client.outcome(of: Get(path: path)).error == nil)
          if number % 97 == 0 { jar.remove { $0.name == "c7" } }
        }
      }
    }
    #expect(jar.all.count <= 40 && jar.all.count >= 39)
    #expect(try await client.send(Get(path: "/")).split(separator: "; ").count == jar.all.count)
  }
}

/// Cookies of servers by other authors.
@Suite(.serialized) struct CookieServerTests {
  @Test func `httpbin sets and reads`() async throws {
    let jar = CookieJar()
    let client = try Servers.httpbin { $0.cookies = .jar(jar) }
    let answer = try await client.send(Inquiry("/cookies/set/a/b"))
    #expect(answer["cookies"] == ["a": "b"], "the redirect that sets the cookie leads to the page that reads it")
    _ = try await client.send(Inquiry("/cookies/set") { $0.arguments = ["c": "d", "e": "f"] })
    #expect(try await client.send(Inquiry("/cookies"))["cookies"] == ["a": "b", "c": "d", "e": "f"])
    let left = try await client.send(Inquiry("/cookies/delete") { $0.arguments = ["a": ""] })
    #expect(left["cookies"] == ["c": "d", "e": "f"] && jar.all.map(\.name) == ["c", "e"])
  }

  @Test func `nginx receives Secure cookie only over TLS`() async throws {
    let jar = CookieJar()
    let client = try Servers.tls("ERRAND_NGINX_TLS")
    client.configure { $0.cookies = .jar(jar) }
    #expect(try await client.send(TextProbe(path: "/cookies")) == "\n")
    #expect(jar.all.map(\.name) == ["__Host-sid", "plain"])
    #expect(try await client.send(TextProbe(path: "/cookies")) == "__Host-sid=1; plain=2\n")
    let cleartext = try Servers.address("ERRAND_NGINX").replacing("127.0.0.1", with: "localhost")
    var configuration = ClientConfiguration(baseURL: cleartext)
    configuration.cookies = .jar(jar)
    #expect(try await APIClient(configuration).send(TextProbe(path: "/cookies")) == "plain=2\n")
  }
}
