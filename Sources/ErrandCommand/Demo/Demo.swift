import Errand
import ErrandSupport
import ErrandTesting

/// Plays the scenes of `errand demo` against two embedded servers. A scene is a short program that shows one use of the
/// library.
@MainActor
struct Demo {
  /// The scenes of the demo, in the order of their numbers.
  nonisolated static let scenes: [any DemoScene] = [
    AsyncScene(), RegisterScene(), BrokenShapeScene(), EnvelopeScene(), ClosureScene(), RetryScene(), RefreshScene(),
    ResumeScene(), UploadScene(), EventScene(), LifetimeScene(), CachedThenFreshScene(), BatchScene(), ChainScene(),
    OutboxScene(), FlightScene(),
  ]

  private let renderer: SceneRenderer

  init(paint: Paint) { renderer = SceneRenderer(paint: paint) }

  /// Plays the scenes of the demo with the given numbers. If no number is given, plays all scenes.
  func play(_ numbers: [Int]) async -> ExitCode {
    let servers: DemoServers
    do {
      servers = try DemoServers()
    } catch {
      Terminal.write("errand: the demo's servers could not be started on this machine: \(error)\n", to: .error)
      return .other
    }
    let opening = "The demo plays everyday scenes against two servers on this machine.\n"
    let addresses = "The API is at \(servers.api.url), the CDN is at \(servers.cdn.url)."
    Terminal.write(opening + addresses + " Secrets are masked.\n\n\n")
    var failed: [Int] = []
    let numbers = numbers.isEmpty ? Array(1...Self.scenes.count) : numbers
    for number in numbers {
      let heading = renderer.heading(Self.scenes[number - 1].title, number: number, of: Self.scenes.count)
      if let code = Terminal.write(heading + "\n\n") { return Terminal.reportWriteFailure(code) }
      if !(await play(number, servers)) { failed.append(number) }
    }
    return end(played: numbers.count, failed: failed)
  }

  /// Runs one scene of the demo. Returns true if all checks of the scene passed.
  private func play(_ number: Int, _ servers: DemoServers) async -> Bool {
    let scene = Self.scenes[number - 1]
    let stage = Stage(scene, servers)
    do {
      try await scene.play(on: stage)
    } catch {
      stage.expect("the scene did not run to its end, because of this error: \(error)", false)
    }
    Terminal.write(renderer.body(stage.report) + "\n\n\n")
    return stage.report.wentAsDeclared
  }

  private func end(played: Int, failed: [Int]) -> ExitCode {
    if failed.isEmpty {
      return Terminal.show(renderer.paint(.green, Self.success(played)) + "\n")
    }
    Terminal.write(renderer.paint(.red, Self.failure(played, failed)) + "\n")
    return .other
  }

  nonisolated static func success(_ played: Int) -> String {
    played == 1 ? "1 scene passed its checks" : "\(played) scenes passed their checks"
  }

  nonisolated static func failure(_ played: Int, _ failed: [Int]) -> String {
    let names = failed.map { "\($0) “\(scenes[$0 - 1].title)”" }.joined(separator: ", ")
    return "\(failed.count) of \(played) scenes did not pass their checks: \(names)"
  }
}

/// Formats the report of a scene of the demo as text of at most 100 columns.
struct SceneRenderer: Sendable {
  static let columns = 100
  private static let margin = 12

  let paint: Paint

  func heading(_ title: String, number: Int, of count: Int) -> String {
    let head = "── \(number)/\(count)  \(title) "
    let rule = String(repeating: "─", count: max(0, Self.columns - TextLayout.width(head)))
    return paint(.bold, head) + paint(.dim, rule)
  }

  func body(_ report: SceneReport) -> String {
    let declared =
      report.declared.isEmpty
      ? [] : report.declared.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    let blocks = [
      block("declared", declared.map(code)),
      block("sent", report.sent.flatMap(request)),
      block("received", report.received.map { ($0, { $0 }) }),
      block("checked", report.checks.map(check)),
    ]
    return blocks.filter { !$0.isEmpty }.map { $0.joined(separator: "\n") }.joined(separator: "\n\n")
  }

  private typealias Line = (text: String, painted: (String) -> String)

  /// Wraps lines and indents them by a margin. The margin of the first line contains the label `word`.
  private func block(_ word: String, _ lines: [Line]) -> [String] {
    let width = Self.columns - Self.margin
    let fitted = lines.flatMap { line in
      TextLayout.wrapped(line.text, to: width, indent: "  ").map(line.painted)
    }
    return fitted.enumerated().map { index, line in
      let head = index == 0 ? word : ""
      return paint(.cyan, head) + String(repeating: " ", count: Self.margin - head.count) + line
    }
  }

  private func code(_ line: String) -> Line { (line, { $0 }) }

  private func request(_ lines: [String]) -> [Line] {
    lines.enumerated().map { index, line in
      index == 0 ? (line, { paint(.bold, $0) }) : ("  " + line, { paint(.dim, $0) })
    }
  }

  private func check(_ check: SceneReport.Check) -> Line {
    let mark = check.passed ? "✓" : "✗"
    return ("\(mark) \(check.sentence)", { paint(check.passed ? .green : .red, $0) })
  }
}

/// The results of a scene of the demo: the sent requests, the received results and the checks.
struct SceneReport: Sendable {
  /// A check of a scene: an expected result, and whether the scene of the demo has produced it.
  struct Check: Sendable {
    let sentence: String
    let passed: Bool
  }

  let declared: String
  /// The requests that the scene of the demo has sent. Each element contains the lines of one request.
  var sent: [[String]] = []
  /// The results that the scene of the demo has received, one line each.
  var received: [String] = []
  var checks: [Check] = []

  /// Whether the scene of the demo passed all its checks. A scene without checks does not pass.
  var wentAsDeclared: Bool { !checks.isEmpty && checks.allSatisfy(\.passed) }
}
