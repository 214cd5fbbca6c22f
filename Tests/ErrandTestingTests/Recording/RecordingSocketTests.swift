import ErrandHTTP
#if os(Linux)
  import Errand
  import ErrandCurl
  import ErrandTesting
  import Foundation
  import Testing

  /// An end-to-end test: a client over curl sends requests to a server, the recording is saved, and the server stops.
  struct RecordingSocketTests {
    private struct LogIn: APIRequest {
      let password: String
      var path: Path { "/login" }
      var method: HTTPMethod { .post }
      var arguments: Arguments { ["user": "ada", "password": password] }
      var formats: Formats { Formats(arguments: .json) }
      struct Response: Decodable, Sendable, Equatable { let access_token: String, level: Int }
    }

    private struct GetProfile: APIRequest {
      let token: String
      var page = 1
      var path: Path { "/profile/\(page)" }
      var arguments: Arguments { ["page": page, "api_key": "k3y-in-the-query"] }
      var credential: RequestCredential { .bearer(token) }
      typealias Response = JSONValue
    }

    private struct GetText: APIRequest {
      let path: Path
      typealias Response = String
    }

    private static let secrets = [
      "s3cret-pass", "t0ken-of-ada", "k3y-in-the-query", "c00kie-of-ada", "ada@example.com",
    ]

    private static func serve(_ request: RecordedRequest) -> LoopbackAnswer {
      switch request.path {
      case "/login":
        return .json(#"{"access_token":"t0ken-of-ada","level":9}"#)
          .setting("Set-Cookie", to: "sid=c00kie-of-ada; Path=/")
      case "/profile/1": return .json(#"{"nick":"Ada","mail":"ada@example.com"}"#)
      case "/profile/2": return .json(#"{"error":"no such page"}"#, status: 404)
      case "/moved": return .redirect(to: "/stream?token=t0ken-of-ada")
      case "/stream": return .chunked(["one ", "two ", "t0ken-of-ada"])
      default: return .ok("hello").cut(after: 2)
      }
    }

    private func client(_ url: String, over transport: any Transport) -> APIClient {
      var configuration = ClientConfiguration(baseURL: url)
      configuration.transport = .own(transport)
      configuration.cookies = .jar(CookieJar())
      return APIClient(configuration)
    }

    /// The results of all requests as text, as a caller receives them.
    private func talk(_ client: APIClient) async throws -> [String] {
      let login = try await client.send(LogIn(password: "s3cret-pass"))
      var seen = ["level \(login.level)"]
      let profile = try await client.send(GetProfile(token: login.access_token))
      seen.append("nick \(profile["nick"]?.stringValue ?? "none")")
      let refused = await client.outcome(of: GetProfile(token: login.access_token, page: 2))
      seen.append("status \(refused.error?.status ?? 0)")
      let moved = try await client.response(GetText(path: "/moved"))
      seen.append("moved \(moved.status) \(moved.value.prefix(8))")
      var streamed = 0
      for try await piece in try await client.stream(GetText(path: "/stream")) { streamed += piece.isEmpty ? 0 : 1 }
      seen.append("streamed \(streamed > 0)")
      seen.append("cut \(await client.outcome(of: GetText(path: "/cut")).error?.transportKind?.rawValue ?? "none")")
      return seen
    }

    @Test func `replay gives the same outcomes`() async throws {
      let place = RecordingPlace()
      let (url, live) = try await record(to: place)
      #expect(live == ["level 9", "nick Ada", "status 404", "moved 200 one two ", "streamed true", "cut truncated"])
      let replay = ReplayTransport(try Recording(contentsOf: place.path), afterLast: .refused)
      #expect(try await talk(client(url, over: replay)) == live)
      #expect(replay.unused.isEmpty)
    }

    @Test func `no secret is in the file`() async throws {
      let place = RecordingPlace()
      _ = try await record(to: place)
      let bytes = try place.bytes
      for secret in Self.secrets { #expect(bytes.range(of: Data(secret.utf8)) == nil, "\(secret)") }
      #expect(bytes.range(of: Data("no such page".utf8)) != nil)
    }

    /// Records the requests to a server, which stops when this function returns.
    private func record(to place: RecordingPlace) async throws -> (url: String, seen: [String]) {
      let server = try LoopbackServer(handler: Self.serve)
      let recorder = RecordingTransport(CurlTransport(), mask: RecordingMask(paths: ["mail"]))
      let seen = try await talk(client(server.url, over: recorder))
      try recorder.save(to: place.path)
      #expect(server.requests.count == 7)
      #expect(server.requests[1].headers["Cookie"] == "sid=c00kie-of-ada")
      server.stop()
      return (server.url, seen)
    }
  }
#endif
