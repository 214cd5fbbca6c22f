import Errand
import ErrandTesting
import Foundation
import TestSupport
import Testing

@testable import ErrandCore

/// Stored properties that the client never reads: those with the name of a requirement and another type, those that are
/// a part of a setting, and those with a name of another library.
@Suite(.enabled(if: isDebugBuild)) struct IgnoredPropertyTests {
  private struct TextMethod: APIRequest {
    var path: Path { "/a" }
    var method = "POST"
  }

  @Test func `wrong type names property, type and cure`() async {
    let found = await ScriptedClient.warnings(TextMethod())
    #expect(
      found == [
        "TextMethod: the client ignores the property `method`, because its type is String; declare it as "
          + "`HTTPMethod`, or rename it if it is data of your own."
      ])
  }

  private struct WrongTypes: APIRequest {
    var path: Path { "/a" }
    var headers = ["X-A": "1"]
    var arguments: [String: Any] { [:] }
    let body = Data()
    let family = RequestFamily("f")
    let timeouts: TimeInterval = 5
    let download = Download.to(URL(filePath: "/a"))
    let formats = ArgumentFormat.json
    let validation = ["text/plain"]
    let overlap = JoinRule.never
    let cache = TextMethod()
    let delivery: JSONShape = ["a": .string]
    let check: @Sendable () -> Void = {}
  }

  @Test(arguments: [
    ("headers", "[String: String]", "RequestHeaders"), ("body", "Data", "RequestBody?"),
    ("family", "RequestFamily", "RequestFamily?"), ("timeouts", "Double", "Timeouts"),
    ("download", "Download", "Download?"), ("formats", "ArgumentFormat", "Formats"),
    ("validation", "[String]", "ResponseValidation"), ("overlap", "JoinRule", "Overlap"),
    ("cache", "TextMethod", "CachePolicy"), ("delivery", "JSONShape", "Delivery<Response>"),
  ])
  func `each wrong type is named`(name: String, type: String, right: String) {
    let sentence = IgnoredPropertyTests.sentences.first { $0.contains("`\(name)`") }
    #expect(sentence?.contains("its type is \(type); declare it as `\(right)`") == true)
  }

  private static let sentences = IgnoredProperties.sentences(about: WrongTypes())

  private struct Parts: APIRequest {
    var path: Path { "/a" }
    let status: StatusRule = [404]
    let shape: JSONShape? = ["a": .string]
    let envelope = Envelope(value: "data")
    let limit = BodyLimit.bytes(5)
    let joining = JoinRule.never
    let repeats = RepeatRule.ignoreNew
    let place = ArgumentFormat.json
    let style = ArgumentStyle(booleans: .digits)
    let decoding = JSONDecoding.standard
    let encoding = JSONEncoding.standard
    let key = CacheKeyRule(leavingOut: ["time"])
    let targets: CacheTargets = [TextMethod()]
    let indicator = IndicatorChoice.none
    let noShape: JSONShape? = nil
    let noRule = RepeatRule.inherited
  }

  @Test(arguments: [
    ("status", "validation = ResponseValidation(status: …)"), ("shape", "validation = ResponseValidation(shape: …)"),
    ("envelope", "validation = ResponseValidation(envelope: …)"),
    ("limit", "validation = ResponseValidation(bodyLimit: …)"), ("joining", "overlap = Overlap(joining: …)"),
    ("repeats", "overlap = Overlap(repeats: …)"), ("place", "formats = Formats(arguments: …)"),
    ("style", "formats = Formats(argumentStyle: …)"), ("decoding", "formats = Formats(jsonDecoding: …)"),
    ("encoding", "formats = Formats(jsonEncoding: …)"), ("key", "cache: CachePolicy = .inherited.keyed(by: …)"),
    ("targets", "cache: CachePolicy = .inherited.stored(as: …)"), ("indicator", "delivery = Delivery(indicator: …)"),
  ])
  func `part outside its setting is named`(name: String, place: String) {
    let found = IgnoredProperties.sentences(about: Parts())
    #expect(found.count == 13)
    #expect(found.contains { $0.contains("`\(name)` (") && $0.hasSuffix("declare it as `\(place)`.") })
  }

  /// The request uses its parts.
  private struct Whole: APIRequest {
    var path: Path { "/a" }
    let shape: JSONShape = ["a": .string]
    let repeats = RepeatRule.ignoreNew
    let key = CacheKeyRule(leavingOut: ["time"])
    var validation: ResponseValidation { ResponseValidation(shape: shape) }
    var overlap: Overlap { Overlap(repeats: repeats) }
    var cache: CachePolicy { .http.keyed(by: key) }
  }

  @Test func `used parts are silent`() {
    #expect(IgnoredProperties.sentences(about: Whole()).isEmpty)
  }

  /// Whole settings under other names.
  private struct Renamed: APIRequest {
    var path: Path { "/a" }
    let retry: RetryPolicy = .standard
    let caching: CachePolicy? = .lifetime(.seconds(60))
    let limits = Timeouts(total: .seconds(5))
    let redirect: RedirectPolicy = .manual
    let rules = ResponseValidation(status: [404])
    let sharing = Overlap(joining: .never)
    var query: Arguments = ["page": 2]
    let fields: RequestHeaders = ["X-A": "1"]
    let noRetry = RetryPolicy.inherited
    let noCaching: CachePolicy? = nil
    let noLimits = Timeouts.inherited
    let noQuery = Arguments()
    let noFields = RequestHeaders()
  }

  @Test(arguments: [
    ("retry", "RetryPolicy", "retries"), ("caching", "CachePolicy?", "cache"), ("limits", "Timeouts", "timeouts"),
    ("redirect", "RedirectPolicy", "redirects"), ("rules", "ResponseValidation", "validation"),
    ("sharing", "Overlap", "overlap"), ("query", "Arguments", "arguments"), ("fields", "RequestHeaders", "headers"),
  ])
  func `setting under another name is named`(name: String, type: String, setting: String) async throws {
    let request = Renamed()
    let found = IgnoredProperties.sentences(about: request, built: try await ScriptedClient().sent(request))
    #expect(found.count == 8)
    #expect(
      found.contains(
        "the client ignores the property `\(name)` (\(type)), because no setting has this name; use `\(setting)`."))
  }

  /// The request uses its values.
  private struct Using: APIRequest {
    let retry: RetryPolicy = .standard
    let limit = Timeouts(total: .seconds(5))
    let query: Arguments = ["page": 2]
    let extra: Arguments = ["kind": "tea"]
    let fields: RequestHeaders = ["X-A": "1"]
    var path: Path { "/a/tea" }
    var retries: RetryPolicy { retry }
    var timeouts: Timeouts { limit }
    var headers: RequestHeaders { fields }
    var body: RequestBody? { .form(query) }
    let method = HTTPMethod.post
  }

  private struct InPath: APIRequest {
    let filter: Arguments = ["kind": "tea"]
    let path: Path = "/a/tea"
  }

  @Test func `used settings are silent`() async throws {
    let request = Using()
    #expect(IgnoredProperties.sentences(about: request, built: try await ScriptedClient().sent(request)).isEmpty)
    #expect(
      IgnoredProperties.sentences(about: InPath(), built: try await ScriptedClient().sent(InPath())).isEmpty)
  }

  private struct FromMoya: APIRequest {
    let baseURL = URL(filePath: "/")
    var path: Path { "/a" }
    let method: HTTPMethod = .post
    let task = "requestPlain"
  }

  private struct FromAlamofire: APIRequest {
    let url = "https://api.example.com/users"
    let path: Path = "/users"
    let parameters = ["page": 2]
    var timeoutInterval = 30.0
  }

  @Test func `names of other libraries are known`() async {
    let moya = await ScriptedClient.warnings(FromMoya())
    #expect(moya.count == 1)
    for name in ["`baseURL`", "`task`"] { #expect(moya.first?.contains(name) == true, "\(name)") }
    let alamofire = await ScriptedClient.warnings(FromAlamofire())
    #expect(alamofire.count == 1)
    for words in [
      "`url` (String)", "`parameters` ([String: Int])", "use `arguments`", "`timeoutInterval` (Double)",
      "use `timeouts`",
    ] {
      #expect(alamofire.first?.contains(words) == true, "\(words)")
    }
  }

  /// The request sends other arguments or another body.
  private struct Mixed: APIRequest {
    var path: Path { "/a" }
    var method: HTTPMethod
    var arguments: Arguments = ["a": 1]
    var body: RequestBody?
    let timeout = 5.0
    let retryCount = 3
    let url = "https://api.example.com/users"
    let params = ["page": 2]
    let task = "requestPlain"
  }

  @Test(arguments: [HTTPMethod.get, .post], [[:], ["a": 1]] as [Arguments])
  func `other arguments hide no warning`(method: HTTPMethod, arguments: Arguments) async throws {
    for body in [nil, RequestBody.json(["b": 4])] {
      let request = Mixed(method: method, arguments: arguments, body: body)
      let found = IgnoredProperties.sentences(about: request, built: try await ScriptedClient().sent(request))
      #expect(found.count == 5)
      for name in ["timeout", "retryCount", "url", "params", "task"] {
        #expect(found.contains { $0.contains("`\(name)`") }, "\(name)")
      }
    }
  }

  /// The request sends the values of its properties under names of its own.
  private struct Passing: APIRequest {
    struct Task: Encodable, Sendable { let id: UUID }
    var path: Path { "/a" }
    let method = HTTPMethod.post
    let timeout: Double
    let retryCount = 3
    let url = "https://shop.example/a b"
    let params = ["q": "tea + milk"]
    let task = Task(id: UUID())
    var arguments: Arguments {
      isJSON ? [:] : ["t": timeout, "n": retryCount, "u": url, "p": params, "i": task.id.uuidString]
    }
    var body: RequestBody? { isJSON ? .json(Content(t: timeout, n: retryCount, u: url, p: params, i: task)) : nil }
    let isJSON: Bool
    struct Content: Encodable, Sendable {
      let t: Double
      let n: Int
      let u: String
      let p: [String: String]
      let i: Task
    }
  }

  @Test(arguments: [5.0, 2.5], [true, false])
  func `sent properties are silent`(timeout: Double, isJSON: Bool) async throws {
    let request = Passing(timeout: timeout, isJSON: isJSON)
    #expect(IgnoredProperties.sentences(about: request, built: try await ScriptedClient().sent(request)).isEmpty)
  }

  private struct Upload: APIRequest {
    var path: Path { "/a" }
    let method = HTTPMethod.post
    let task = 7
    let body: RequestBody?
  }

  @Test func `unknown body is silent`() async throws {
    let request = Upload(body: .file(URL(filePath: #filePath), type: "text/plain"))
    #expect(IgnoredProperties.sentences(about: request, built: try await ScriptedClient().sent(request)).isEmpty)
  }

  private struct Log: APIRequest {
    let lines: AsyncStream<Data>
    var path: Path { "/log" }
    let method = HTTPMethod.put
    var body: RequestBody? { .pieces(lines) }
  }

  private struct StoredLog: APIRequest {
    let path: Path = "/log"
    let method = HTTPMethod.put
    let stored: RequestBody?
    var body: RequestBody? { stored?.expectingContinue() }
  }

  private struct LogForm: APIRequest {
    let lines: AsyncStream<Data>
    let path: Path = "/log"
    let method = HTTPMethod.post
    var body: RequestBody? { .multipart([.text("name", "a"), .body("log", .pieces(lines))]) }
  }

  private struct StoredForm: APIRequest {
    let path: Path = "/log"
    let method = HTTPMethod.post
    let stored: Multipart
    var body: RequestBody? { .multipart(stored) }
  }

  private struct Replayed: APIRequest {
    let path: Path = "/log"
    let method = HTTPMethod.put
    var body: RequestBody? { .stream(isReplayable: true) { try HTTPBody(Data("a".utf8)).open($0) } }
  }

  @Test func `single-use body must be stored`() async {
    let lines = AsyncStream<Data> { $0.finish() }
    let found = await ScriptedClient.warnings(Log(lines: lines))
    #expect(found.count == 1)
    #expect(found.first?.hasPrefix("Log: each reading of `body` makes a new body") == true)
    #expect(found.first?.contains("store it: `let body: RequestBody?`") == true)
    #expect(await ScriptedClient.warnings(StoredLog(stored: .pieces(lines))).isEmpty)
    #expect(await ScriptedClient.warnings(Replayed()).isEmpty)
  }

  @Test func `single-use part must be stored`() async {
    let lines = AsyncStream<Data> { $0.finish() }
    let found = await ScriptedClient.warnings(LogForm(lines: lines))
    #expect(found.count == 1)
    #expect(found.first?.hasPrefix("LogForm: each reading of `body` makes a new body") == true)
    #expect(await ScriptedClient.warnings(StoredForm(stored: [.body("log", .pieces(lines))])).isEmpty)
  }

  private struct Right: APIRequest {
    let path: Path = "/a"
    var method = HTTPMethod.post
    var headers = RequestHeaders()
    var arguments = Arguments()
    var body: RequestBody?
    let formats = Formats.inherited
    let cache = CachePolicy.inherited.stored(as: .own)
    let overlap = Overlap.inherited
    let validation = ResponseValidation.inherited
    let decoder: ResponseDecoder<Data> = .automatic
    let delivery = Delivery<Data>(accessories: [])
    let name = "data of the request"
  }

  /// The properties have names of other libraries, and the request passes them on itself.
  private struct Used: APIRequest {
    let url: URL
    let timeout: Double
    let parameters: [String: Int]
    var path: Path { RequestPath(url.absoluteString) }
    var arguments: Arguments { ["parameters": parameters] }
    var timeouts: Timeouts { Timeouts(total: .seconds(timeout)) }
  }

  private struct DeleteTask: APIRequest {
    let task = 7
    let method: HTTPMethod = .delete
    var path: Path { "/tasks/\(task)" }
  }

  @Test func `properties that are read are silent`() async throws {
    #expect(await ScriptedClient.warnings(Right()).isEmpty)
    #expect(await ScriptedClient.warnings(DeleteTask()).isEmpty)
    let url = try #require(URL(string: "http://h.example/a"))
    #expect(await ScriptedClient.warnings(Used(url: url, timeout: 3, parameters: ["a": 1])).isEmpty)
  }

  @Test func `table lists every requirement`() throws {
    let file = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../../Sources/ErrandCore/Request/APIRequest.swift")
    let text = try String(contentsOf: file, encoding: .utf8)
    let declared = text.matches(of: /\n  var (\w+): (.+) \{ get \}\n/).map { [String($0.1), String($0.2)] }
    let listed = IgnoredProperties.requirements(of: Right.self).map { [$0.name, $0.spelling] }
    #expect(declared.count > 20)
    #expect(Set(declared) == Set(listed))
  }
}
