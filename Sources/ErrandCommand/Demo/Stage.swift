import Errand
import ErrandTesting

/// The environment of a scene: a client for the two servers, and the report to fill.
@MainActor
final class Stage {
  /// The client, new for each scene.
  let client: APIClient
  /// Overwrites the line at the cursor; nil if the output is not a terminal.
  let drawing: (@MainActor (String) -> Void)?
  private(set) var report: SceneReport

  private let servers: DemoServers
  private let earlier: [DemoHost: Int]

  init(_ scene: any DemoScene, _ servers: DemoServers, drawing: (@MainActor (String) -> Void)?) {
    self.servers = servers
    self.drawing = drawing
    client = APIClient(baseURL: servers.api.url, cdnURL: servers.cdn.url)
    report = SceneReport(title: scene.title, declared: scene.source.shown)
    earlier = [.api: servers.api.requests.count, .cdn: servers.cdn.requests.count]
    servers.show(scene)
  }

  /// One of the servers.
  func server(_ host: DemoHost) -> LoopbackServer { servers[host] }

  /// The requests that a server has received in this scene.
  func requests(to host: DemoHost = .api) -> [RecordedRequest] {
    Array(servers[host].requests.dropFirst(earlier[host, default: 0]))
  }

  /// Shows a request as the server recorded it: the request line, the chosen fields, the body or its length; secrets
  /// are masked.
  func showSent(
    _ request: RecordedRequest?, to host: DemoHost = .api, fields: [String] = [], showingBody: Bool = true
  ) {
    guard let request else { return claim("the \(host.rawValue) host received the request", false) }
    var lines = ["\(request.method) \(Secrets.maskedTarget(request.target)) \(request.version)  → \(host.rawValue)"]
    for field in request.headers.fields where fields.contains(where: { $0.lowercased() == field.name.lowercased() }) {
      lines.append("\(field.name): \(Secrets.shown(field.value, of: field.name))")
    }
    if !showingBody { lines.append("(\(Wording.bytes(Int64(request.bodyLength))) of body)") }
    if showingBody, !request.body.isEmpty { lines.append(Secrets.maskedBody(request.bodyText)) }
    report.wire.append(lines)
  }

  /// Shows a result that the program received.
  func showGot(_ line: String) { report.cameBack.append(line) }

  /// Shows a value that the program received, with the name of its type.
  func showGot<Value>(value: Value) {
    let names = String(reflecting: Value.self).split(separator: ".").suffix(2)
    showGot((names.dropLast().map { "\($0)." } + ["\(value)"]).joined())
  }

  /// Shows an error that the program received: stage, code and message.
  func showGot(_ error: APIError?) {
    guard let error else { return showGot("no error") }
    showGot("APIError \(error.stage.rawValue)/\(error.code): “\(error.message)”")
  }

  /// Adds a check to the report.
  func claim(_ sentence: String, _ holds: Bool) {
    report.claims.append(.init(sentence: sentence, holds: holds))
  }
}
