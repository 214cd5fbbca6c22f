import Errand
import ErrandHTTP
import ErrandTesting
import Foundation
import Testing

/// Errors of an app that quote the secrets of their call: the texts of Errand do not contain them.
struct SecretQuoteTests {
  private static let marker = SecretTests.marker

  private struct Quote: Error, CustomStringConvertible {
    var description: String { "refused “\(marker)” of “Basic \(SecretTests.encoded)”" }
  }

  private struct Provider: CredentialProvider {
    var account: String? { nil }
    func credential(for account: String?) async throws -> Credential? { throw Quote() }
  }

  private static let places = [
    SecretScene(
      testDescription: "interceptor", code: .interceptor,
      change: { $0.interceptors.calls = [Around { _, _, _ in throw Quote() }] }),
    SecretScene(
      testDescription: "an interceptor's own words", code: .admission,
      change: { $0.interceptors.calls = [Around { _, _, _ in throw APIError(.admission, .admission, "\(Quote())") }] }),
    SecretScene(
      testDescription: "exchange interceptor", code: .interceptor,
      change: { $0.interceptors.exchanges = [Around { _, _, _ in throw Quote() }] }),
    SecretScene(testDescription: "transport", code: APIError.Code(rawValue: "other"), answer: { _ in throw Quote() }),
    SecretScene(
      testDescription: "a transport's own words", code: APIError.Code(rawValue: "reset"),
      answer: { _ in throw TransportFailure(.reset, "\(Quote())") }),
    SecretScene(testDescription: "check", code: .parameter, request: { $0.checking = { throw Quote() } }),
  ]

  @Test(arguments: places) func `quoted secret is masked`(place: SecretScene) async throws {
    let lines = Recorded<LogLine>()
    let bench = ScriptedClient(
      {
        $0.log = { lines.append($0) }
        place.change(&$0)
      }, answer: { try await place.answer($0) })
    var request = Sending(credential: .basic(user: "user", password: Self.marker))
    place.request(&request)
    let error = try #require(await bench.client.outcome(of: request).error)
    #expect(error.code == place.code && error.message.contains("•••"))
    expectNoSecret(in: error, lines)
  }

  private struct Refusal: Error, CustomStringConvertible {
    var description: String { "\(marker) is too short" }
  }

  /// Requests that are not built, because `check()` refuses them and quotes a secret.
  private static let unbuilt = [
    SecretScene(
      testDescription: "member of an argument", code: .parameter,
      request: { $0.arguments = ["login": ["password": marker]] }),
    SecretScene(
      testDescription: "list of an argument", code: .parameter, request: { $0.arguments = ["tokens": [marker]] }),
    SecretScene(
      testDescription: "argument of the family", code: .parameter,
      request: { $0.family = RequestFamily("shop", arguments: ["api_key": marker]) }),
    SecretScene(
      testDescription: "query of the path", code: .parameter, request: { $0.path = "/p?token=\(marker)#top" }),
    SecretScene(
      testDescription: "query of the family's base URL", code: .parameter,
      request: { $0.family = RequestFamily("shop", baseURL: "http://h.example/?api_key=\(marker)") }),
    SecretScene(
      testDescription: "form", code: .parameter, request: { $0.body = .form(["user": ["password": marker]]) }),
    SecretScene(
      testDescription: "JSON body", code: .parameter, request: { $0.body = .json(["user": ["password": marker]]) }),
  ]

  @Test(arguments: unbuilt) func `quoted secret of an unbuilt request is masked`(place: SecretScene) async throws {
    var request = Sending(method: .post)
    place.request(&request)
    request.checking = { throw Refusal() }
    let error = try #require(await ScriptedClient().client.outcome(of: request).error)
    #expect(error.code == place.code && error.message == "A parameter is wrong: ••• is too short.")
    expectNoSecret(in: error)
    request.checking = { throw APIError(.build, .parameter, "\(Refusal())") }
    let own = try #require(await ScriptedClient().client.outcome(of: request).error)
    #expect(own.code == place.code && own.message == "••• is too short")
    expectNoSecret(in: own)
  }

  private struct NoTenant: Error, CustomStringConvertible {
    let server: String
    var description: String { "no tenant at \(server)" }
  }

  @Test func `error of a URL filter is masked`() async throws {
    let bench = ScriptedClient(answers: []) {
      $0.servers.current.baseURL = "http://h.example/v1?key=\(Self.marker)"
      $0.additions.filters = [URLFilter("tenant") { url, _ in throw NoTenant(server: url.base) }]
    }
    let error = try #require(await bench.client.outcome(of: Sending()).error)
    #expect(error.message == "A URL filter failed: no tenant at http://h.example/v1?key=•••.")
    expectNoSecret(in: error)
  }

  @Test func `provider's error is masked`() async throws {
    let bench = ScriptedClient(answers: []) {
      $0.credentials = Provider()
      $0.headers = ["X-Api-Key": .secret(Self.marker), "X-Other-Key": .secret(SecretTests.encoded)]
    }
    let error = try #require(await bench.client.outcome(of: Sending()).error)
    #expect(error.code == .noCredential && error.message.contains("refused “•••” of “Basic •••”"))
    expectNoSecret(in: error)
  }

  @Test func `error of a step is masked`() async throws {
    let bench = ScriptedClient(answers: [.text("ok")]) {
      $0.credentials = FixedCredential(.basic(user: "user", password: Self.marker))
    }
    let outcome = await bench.client.outcome(
      of: Chain { (chain) async throws -> Void in
        _ = try await chain.send(Sending())
        throw Quote()
      })
    let error = try #require(outcome.error)
    #expect(error.code == .step && error.message.contains("•••"))
    expectNoSecret(in: error)
  }

  private struct Broken: Decodable, Sendable {
    init(from decoder: any Decoder) throws { throw Quote() }
  }

  @Test func `error of a decoder is masked`() async throws {
    let bench = ScriptedClient(answers: [.json("{}")])
    let request = Ask<Broken>(credential: .basic(user: "user", password: Self.marker))
    let error = try #require(await bench.client.outcome(of: request).error)
    #expect(error.code == .decoding && error.message.contains("•••"))
    expectNoSecret(in: error)
  }

  private struct Cutter: Reformer {
    func reform(_ input: Data) throws -> Int { throw Quote() }
  }

  @Test func `error of a reformer is masked`() async throws {
    let bench = ScriptedClient(answers: [.text("ok")])
    let request = Sending(credential: .basic(user: "user", password: Self.marker))
    let error = try #require(await bench.client.outcome(of: request, as: Cutter()).error)
    #expect(error.code == .reform && error.message.contains("•••"))
    expectNoSecret(in: error)
  }

  /// The cause is the app's own error, which stays unchanged.
  private func expectNoSecret(in error: APIError, _ lines: Recorded<LogLine> = Recorded()) {
    let shown = [SecretTests.everything(error), error.message, error.localizedDescription] + lines.all.map(\.text)
    for text in shown {
      #expect(!text.contains(Self.marker) && !text.contains(SecretTests.encoded), "\(text)")
    }
  }
}
