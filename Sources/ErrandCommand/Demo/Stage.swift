import Errand
import ErrandSupport
import ErrandTesting

/// The environment of a scene of the demo: a client for the two servers, and the report to which the scene adds its
/// results.
@MainActor
final class Stage {
  /// The client of the current scene. Each scene of the demo has a new client.
  let client: APIClient
  private(set) var report: SceneReport

  private let servers: DemoServers
  private let earlier: [DemoHost: Int]

  init(_ scene: any DemoScene, _ servers: DemoServers) {
    self.servers = servers
    client = APIClient(baseURL: servers.api.url, cdnURL: servers.cdn.url)
    report = SceneReport(title: scene.title, declared: scene.source.shown)
    earlier = [.api: servers.api.requests.count, .cdn: servers.cdn.requests.count]
    servers.show(scene)
  }

  /// Returns the API server or the CDN server.
  func server(_ host: DemoHost) -> LoopbackServer { servers[host] }

  /// The requests that a server has received in the current scene of the demo.
  func requests(to host: DemoHost = .api) -> [RecordedRequest] {
    Array(servers[host].requests.dropFirst(earlier[host, default: 0]))
  }

  /// Adds a request to the report, as the server recorded it: the request line, the fields whose names are in `fields`,
  /// and the body or its length. Secrets are masked.
  func showSent(
    _ request: RecordedRequest?, to host: DemoHost = .api, fields: [String] = [], showingBody: Bool = true
  ) {
    guard let request else { return expect("the \(host.rawValue) host received the request", false) }
    var lines = ["\(request.method) \(Secrets.maskedTarget(request.target)) \(request.version)  → \(host.rawValue)"]
    for field in request.headers.fields where fields.contains(where: { $0.lowercased() == field.name.lowercased() }) {
      lines.append("\(field.name): \(Secrets.shown(field.value, of: field.name))")
    }
    if !showingBody { lines.append("(\(Wording.bytes(Int64(request.bodyLength))) of body)") }
    if showingBody, !request.body.isEmpty { lines.append(Secrets.maskedBody(request.bodyText)) }
    report.sent.append(lines)
  }

  /// Adds a line to the report. The line describes a result that the scene of the demo has received.
  func showReceived(_ line: String) { report.received.append(line) }

  /// Adds a value that the scene of the demo has received to the report, together with the name of the value's type.
  func showReceived<Value>(value: Value) {
    let names = String(reflecting: Value.self).split(separator: ".").suffix(2)
    showReceived((names.dropLast().map { "\($0)." } + ["\(value)"]).joined())
  }

  /// Adds an error that the scene of the demo has received to the report. The report shows the stage in which the call
  /// failed, the code of the error and its message.
  func showReceived(_ error: APIError?) {
    guard let error else { return showReceived("no error") }
    showReceived("APIError \(error.stage.rawValue)/\(error.code): “\(error.message)”")
  }

  /// Adds a check to the report: a sentence that states the expected result, and whether the sentence is true.
  func expect(_ sentence: String, _ passed: Bool) {
    report.checks.append(.init(sentence: sentence, passed: passed))
  }
}

/// The two servers of the demo. The current scene of the demo determines the responses of the servers.
final class DemoServers: Sendable {
  /// Stores the current scene of the demo. The threads of the servers read it.
  private final class CurrentScene: Sendable {
    let scene = Locked<(any DemoScene)?>(nil)

    func answer(_ request: RecordedRequest, from host: DemoHost) -> LoopbackAnswer {
      scene.withLock { $0 }?.answer(request, from: host) ?? .status(503, body: "no scene is running\n")
    }
  }

  let api: LoopbackServer
  let cdn: LoopbackServer
  private let current = CurrentScene()

  /// Starts both servers of the demo.
  init() throws {
    api = try LoopbackServer { [current] in current.answer($0, from: .api) }
    cdn = try LoopbackServer { [current] in current.answer($0, from: .cdn) }
  }

  /// Makes a scene of the demo the current scene, which determines the responses of both servers.
  func show(_ scene: any DemoScene) { current.scene.withLock { $0 = scene } }

  subscript(host: DemoHost) -> LoopbackServer { host == .api ? api : cdn }
}
