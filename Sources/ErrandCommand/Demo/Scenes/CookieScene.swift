import Errand
import ErrandTesting

/// A server with sessions.
struct CookieScene: DemoScene {
  let title = "Cookies by choice: a login sets one, the next page reads it"
  let declared = #"""
    struct Login: APIRequest {
      var path: Path { "/login" }
      var method: HTTPMethod { .post }
      typealias Response = String
    }
    let jar = CookieJar()
    client.configure { $0.cookies = .jar(jar) }
    let greeting = try await client.send(Login())
    jar.removeAll()
    let refused = await client.outcome(of: Home())
    """#

  struct Login: APIRequest {
    var path: Path { "/login" }
    var method: HTTPMethod { .post }
    typealias Response = String
  }

  struct Home: APIRequest {
    var path: Path { "/home" }
    typealias Response = String
  }

  func answer(_ request: RecordedRequest, from host: DemoHost) -> LoopbackAnswer {
    if request.path == "/login" {
      return .redirect(to: "/home", status: 303).setting("Set-Cookie", to: "sid=s3cret; HttpOnly; Path=/; Max-Age=3600")
    }
    return request.headers["Cookie"] == "sid=s3cret" ? .ok("Good morning, Ada") : .status(401)
  }

  @MainActor func play(on stage: Stage) async throws {
    let client = stage.client
    let jar = CookieJar()
    client.configure { $0.cookies = .jar(jar) }
    let greeting = try await client.send(Login())
    let kept = jar.all
    jar.removeAll()
    let refused = await client.outcome(of: Home())

    let requests = stage.requests()
    for request in requests { stage.showSent(request, fields: ["Cookie"]) }
    stage.showGot(greeting)
    for cookie in kept { stage.showGot("\(cookie)") }
    stage.showGot("after the logout: status \(refused.error?.status ?? 0)")
    stage.claim("the hop behind the login carries the cookie", greeting == "Good morning, Ada")
    stage.claim("what is shown of it has no value", !kept.isEmpty && !kept.contains { "\($0)".contains("s3cret") })
    stage.claim("after the logout nothing is carried", requests.last?.headers["Cookie"] == nil)
  }
}
