import Errand
import ErrandTesting
import Foundation
import Testing

/// Credentials that a server rejects with status 200 in calls that do not keep the body in memory.
struct StreamedRejectionTests {
  /// What shows that a response is a rejection.
  enum Sign: CaseIterable, Sendable {
    /// The content type in the headers. The call accepts all content types.
    case headers
    /// The code in the body. The call rejects the content type, so the body is in memory.
    case body

    func isRejection(_ response: HTTPResponse) -> Bool {
      switch self {
      case .headers: response.fields[.contentType] == "application/json"
      case .body: (try? JSONValue(parsing: response.body))?["code"] == 10401
      }
    }

    /// The content types that the call accepts; nil for all.
    func types(_ accepted: String) -> [String]? { self == .body ? [accepted] : nil }

    /// The numbers of body bytes in the responses that the function sees if the second response is accepted.
    var seen: [Int] { [self == .body ? StreamedRejectionTests.expired.body.count : 0, 0] }
  }

  struct Film: APIRequest {
    typealias Response = DownloadedFile
    let path: Path = "/film"
    let download: Download?
    let contentTypes: [String]?
    var validation: ResponseValidation { ResponseValidation(contentTypes: contentTypes) }
  }

  /// A server that accepts the token "new", a client with the token "old", and a file from an earlier download.
  private final class Scene: Sendable {
    let bench: ScriptedClient
    let refreshes: Recorded<String>
    let seen: Recorded<Int>
    let folder = FileManager.default.temporaryDirectory.appending(path: "errand-rejection-\(UUID().uuidString)")

    var client: APIClient { bench.client }
    var file: URL { folder.appending(path: "film.mp4") }
    var fileText: String? { (try? Data(contentsOf: file)).map { String(decoding: $0, as: UTF8.self) } }
    var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? [] }
    var tokens: [String?] { bench.transport.requests.map { $0.fields[.authorization] } }

    /// - Parameter answer: The response to an accepted token; nil if the server accepts no token.
    init(_ sign: Sign, refreshes isRefreshing: Bool = true, _ answer: ScriptedAnswer?) async throws {
      let (refreshes, seen) = (Recorded<String>(), Recorded<Int>())
      (self.refreshes, self.seen) = (refreshes, seen)
      let refresh: CredentialStore.Refresh = { _, account in
        refreshes.append(account)
        return AccountCredential(.bearer("new"))
      }
      let accounts = CredentialStore(
        refresh: isRefreshing ? refresh : nil,
        isRejection: { response in
          seen.append(response.body.count)
          return sign.isRejection(response)
        })
      bench = ScriptedClient({ $0.credentials = accounts }) { request in
        guard let answer, request.fields[.authorization] == "Bearer new" else {
          return StreamedRejectionTests.expired
        }
        return answer
      }
      try await accounts.login("ada", with: AccountCredential(.bearer("old")))
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      try Data("old film".utf8).write(to: file)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    func film(_ sign: Sign) -> Film { Film(download: .to(file), contentTypes: sign.types("video/*")) }
  }

  private static let expired = ScriptedAnswer.json(#"{"code":10401,"message":"token expired"}"#)
  private static let film = ScriptedAnswer.data(Data("new film".utf8), contentType: "video/mp4")
  private static let both: [String?] = ["Bearer old", "Bearer new"]

  @Test(arguments: Sign.allCases) func `download refreshes the credential`(sign: Sign) async throws {
    let scene = try await Scene(sign, Self.film)
    _ = try await scene.client.send(scene.film(sign))
    #expect(scene.fileText == "new film" && scene.names == ["film.mp4"])
    #expect(scene.tokens == Self.both && scene.refreshes.all == ["ada"])
    #expect(scene.seen.all == sign.seen)
  }

  @Test(arguments: Sign.allCases) func `stream refreshes the credential`(sign: Sign) async throws {
    let scene = try await Scene(sign, Self.film)
    let stream = try await scene.client.stream(Sending(contentTypes: sign.types("video/*")))
    var body = Data()
    for try await piece in stream { body += piece }
    #expect(body == Self.film.body && scene.tokens == Self.both && scene.refreshes.all == ["ada"])
    #expect(scene.seen.all == sign.seen)
  }

  @Test(arguments: Sign.allCases) func `event stream refreshes the credential`(sign: Sign) async throws {
    let scene = try await Scene(sign, .data(Data("data: a\n\n".utf8), contentType: "text/event-stream"))
    let request = Sending(contentTypes: sign.types("text/event-stream"))
    var events: [String] = []
    for try await event in scene.client.events(of: request, reconnecting: .never) { events.append(event.data) }
    #expect(events == ["a"] && scene.tokens == Self.both && scene.refreshes.all == ["ada"])
    #expect(scene.seen.all == sign.seen)
  }

  @Test(arguments: Sign.allCases) func `second rejection leaves the file`(sign: Sign) async throws {
    let scene = try await Scene(sign, nil)
    let error = await scene.client.outcome(of: scene.film(sign)).error
    #expect(error?.stage == .validate && error?.code == .status && error?.status == 200)
    #expect(error?.response?.body == Self.expired.body)
    #expect(scene.fileText == "old film" && scene.tokens == Self.both && scene.refreshes.count == 1)
  }

  @Test(arguments: Sign.allCases) func `second rejection fails the stream`(sign: Sign) async throws {
    let scene = try await Scene(sign, nil)
    let request = Sending(contentTypes: sign.types("video/*"))
    let error = await #expect(throws: APIError.self) { _ = try await scene.client.stream(request) }
    #expect(error?.code == .status && error?.response?.body == Self.expired.body)
    #expect(scene.tokens == Self.both && scene.refreshes.count == 1)
  }

  @Test(arguments: Sign.allCases) func `store without a refresh keeps the file`(sign: Sign) async throws {
    let scene = try await Scene(sign, refreshes: false, Self.film)
    #expect(await scene.client.outcome(of: scene.film(sign)).error?.code == .status)
    #expect(scene.fileText == "old film" && scene.tokens == ["Bearer old"])
  }

  @Test func `delivered body is not examined`() async throws {
    let scene = try await Scene(.body, Self.film)
    var body = Data()
    for try await piece in try await scene.client.stream(Sending()) { body += piece }
    #expect(body == Self.expired.body && scene.tokens == ["Bearer old"] && scene.refreshes.count == 0)
    #expect(scene.seen.all == [0])
  }

  @Test func `accepted 401 reaches the stream`() async throws {
    let accounts = CredentialStore(refresh: { old, _ in old }, isRejection: { _ in true })
    try await accounts.login("ada", with: AccountCredential(.bearer("old")))
    let bench = ScriptedClient({ $0.credentials = accounts }) { _ in .text("who?", status: 401) }
    let stream = try await bench.client.stream(Sending(statusRule: [401]))
    var body = Data()
    for try await piece in stream { body += piece }
    #expect(stream.status == 401 && body == Data("who?".utf8) && bench.transport.requests.count == 1)
  }
}
