import Errand
import ErrandSupport
import ErrandTesting
import Foundation

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
    report = SceneReport(declared: scene.source.shown)
    earlier = [.api: servers.api.requests.count, .cdn: servers.cdn.requests.count]
    servers.show(scene)
  }

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

  init() throws {
    api = try LoopbackServer { [current] in current.answer($0, from: .api) }
    cdn = try LoopbackServer { [current] in current.answer($0, from: .cdn) }
  }

  func show(_ scene: any DemoScene) { current.scene.withLock { $0 = scene } }

  subscript(host: DemoHost) -> LoopbackServer { host == .api ? api : cdn }
}

/// A scene of the demo, which is a short program: the code to show, the responses of the servers, and the expected
/// results.
protocol DemoScene: Sendable {
  /// A short description of the scene, which the demo prints as a heading.
  var title: String { get }
  /// The source file of the scene. The demo prints the marked lines of this file.
  var source: SceneSource { get }
  /// The response of a server of the demo to a request of this scene.
  func answer(_ request: RecordedRequest, from host: DemoHost) -> LoopbackAnswer
  /// Plays this scene of the demo: sends its requests, and adds the results and their checks to the report of the
  /// ``Stage``.
  @MainActor func play(on stage: Stage) async throws
}

enum DemoHost: String, Sendable {
  case api = "API"
  /// The host of images and other large files.
  case cdn = "CDN"
}

/// The source file of a scene of the demo. The demo shows the lines between `// shown: begin` and `// shown: end`: the
/// code that runs.
struct SceneSource: Sendable {
  private let file: String

  /// - Parameter file: The path that the source file of the demo's scene had when the program was built.
  init(file: String = #filePath) { self.file = file }

  /// The lines of the source file that the demo shows, without their common indentation. The text is empty if the file
  /// is not on this machine, for example because the program was built on another machine.
  var shown: String {
    guard let text = try? String(contentsOfFile: file, encoding: .utf8) else { return "" }
    return Self.marked(text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init))
      .joined(separator: "\n")
  }

  /// The lines of a file that are between a begin mark and an end mark.
  static func marked(_ lines: [String]) -> [String] {
    var shown: [String] = []
    var part: [String]?
    for line in lines {
      switch line.trimmingCharacters(in: .whitespaces) {
      case "// shown: begin": part = []
      case "// shown: end":
        shown += unindented(part ?? [])
        part = nil
      default: part?.append(line)
      }
    }
    return shown
  }

  private static func unindented(_ lines: [String]) -> [String] {
    let common = lines.filter { !$0.isEmpty }.map { $0.prefix { $0 == " " }.count }.min() ?? 0
    return lines.map { String($0.dropFirst(common)) }
  }
}

/// Collects the events that callbacks report, in order. A scene of the demo can wait for these events.
@MainActor
final class EventCollector<Entry: Sendable> {
  private(set) var entries: [Entry] = []
  private var waiting: (count: Int, continuation: CheckedContinuation<Void, Never>)?

  /// Adds an event. If a scene of the demo waits for events and enough events have been collected, resumes the scene.
  func append(_ entry: Entry) {
    entries.append(entry)
    guard let waiting, entries.count >= waiting.count else { return }
    self.waiting = nil
    waiting.continuation.resume()
  }

  /// Waits until `count` events have been collected. Only one task may wait at a time.
  func waitForEntries(_ count: Int) async {
    guard entries.count < count else { return }
    await withCheckedContinuation { waiting = (count, $0) }
  }
}

/// Counts the requests to a server. The counter is thread-safe, because the server's threads and the scene of the demo
/// use it.
final class TurnCounter: Sendable {
  private let count = Locked(0)

  /// The number of requests that the server has received since the last reset.
  var value: Int { count.withLock { $0 } }

  /// Sets the counter to 0. A scene of the demo calls this function first, because the scene can be played more than
  /// once.
  func reset() { count.withLock { $0 = 0 } }

  /// Counts a request. Returns the number of requests including this request.
  func next() -> Int {
    count.withLock { count in
      count += 1
      return count
    }
  }
}
