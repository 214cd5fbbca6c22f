import Errand
import ErrandTesting

/// What was measured of a call, and the same call as a line for curl.
struct MetricsScene: DemoScene {
  let title = "Metrics of a call, and the same call as a line for curl"
  let declared = #"""
    struct LogIn: APIRequest {
      var path: Path { "/login" }
      var method: HTTPMethod { .post }
      var headers: RequestHeaders { ["X-App": "it's a demo"] }
      var credential: RequestCredential { .bearer("t0ken") }
      var body: RequestBody? { .json(["user": "ada", "password": "analytical"]) }
    }
    struct Watching: Interceptor {
      let note: @MainActor @Sendable (String) -> Void
      func intercept(
        _ request: HTTPRequest, context: CallContext, next: Next
      ) async throws -> HTTPResponse {
        await note(request.curlCommand())
        return try await next(request)
      }
    }
    client.configure { $0.exchangeInterceptors = [Watching { lines.note($0) }] }
    let answer = try await client.response(LogIn())
    """#

  struct LogIn: APIRequest {
    var path: Path { "/login" }
    var method: HTTPMethod { .post }
    var headers: RequestHeaders { ["X-App": "it's a demo"] }
    var credential: RequestCredential { .bearer("t0ken") }
    var body: RequestBody? { .json(["user": "ada", "password": "analytical"]) }
  }

  struct Watching: Interceptor {
    let note: @MainActor @Sendable (String) -> Void
    func intercept(
      _ request: HTTPRequest, context: CallContext, next: Next
    ) async throws -> HTTPResponse {
      await note(request.curlCommand())
      return try await next(request)
    }
  }

  func answer(_ request: RecordedRequest, from host: DemoHost) -> LoopbackAnswer { .ok("welcome") }

  @MainActor func play(on stage: Stage) async throws {
    let client = stage.client
    let lines = Notebook<String>()
    client.configure { $0.exchangeInterceptors = [Watching { lines.note($0) }] }
    let answer = try await client.response(LogIn())
    let line = lines.entries.first ?? ""

    stage.showSent(stage.requests().first, fields: ["X-App", "Authorization", "Content-Type"])
    stage.showGot(Wording.metrics(answer.metrics))
    stage.showGot(line)
    let exchange = answer.metrics.exchanges.first
    stage.claim("one exchange was measured, from its first byte to its last", exchange?.firstByte != nil)
    stage.claim("the bytes of both ways were counted", answer.metrics.bytesSent > 0 && answer.metrics.bytesReceived > 0)
    stage.claim(
      "the line for curl shows neither token nor password", !line.contains("t0ken") && !line.contains("analytical"))
    stage.claim("and its quoting is right for a shell", line.contains(#"'X-App: it'\''s a demo'"#))
  }
}
