import Errand
import ErrandSupport
import ErrandTesting

/// Plays the everyday scenes against two embedded servers.
@MainActor
struct Demo {
  /// The scenes in the order of their numbers.
  nonisolated static let scenes: [any DemoScene] = [
    AsyncScene(), RegisterScene(), BrokenShapeScene(), EnvelopeScene(), ClosureScene(), RetryScene(), RefreshScene(),
    ResumeScene(), UploadScene(), EventScene(), LifetimeScene(), CachedThenFreshScene(), BatchScene(), ChainScene(),
  ]

  private let renderer: SceneRenderer
  private let isTerminal: Bool

  init(paint: Paint, isTerminal: Bool) {
    renderer = SceneRenderer(paint: paint)
    self.isTerminal = isTerminal
  }

  /// Plays the scenes with the given numbers, or all of them.
  func play(_ numbers: [Int]) async -> ExitCode {
    let servers: DemoServers
    do {
      servers = try DemoServers()
    } catch {
      Terminal.write("errand: the demo's servers could not be started on this machine: \(error)\n", to: .error)
      return .other
    }
    let opening = "Everyday scenes against two servers on this machine: the API at \(servers.api.url),\n"
    Terminal.write(opening + "the CDN at \(servers.cdn.url). Secrets are masked.\n\n\n")
    var failed: [Int] = []
    let numbers = numbers.isEmpty ? Array(1...Self.scenes.count) : numbers
    for number in numbers {
      let heading = renderer.heading(Self.scenes[number - 1].title, number: number, of: Self.scenes.count)
      if let lost = Terminal.write(heading + "\n\n") { return Terminal.lost(lost) }
      if !(await play(number, servers)) { failed.append(number) }
    }
    return end(played: numbers.count, failed: failed)
  }

  /// Runs one scene. Returns true if all of its checks passed.
  private func play(_ number: Int, _ servers: DemoServers) async -> Bool {
    let scene = Self.scenes[number - 1]
    let stage = Stage(scene, servers, drawing: isTerminal ? Self.drawOver : nil)
    do {
      try await scene.play(on: stage)
    } catch {
      stage.claim("the scene did not run to its end, because of this error: \(error)", false)
    }
    Terminal.write(renderer.body(stage.report) + "\n\n\n")
    return stage.report.wentAsDeclared
  }

  /// Overwrites the line at the cursor.
  private static func drawOver(_ line: String) { Terminal.write("\r\u{1B}[K\(line)") }

  private func end(played: Int, failed: [Int]) -> ExitCode {
    if failed.isEmpty {
      return Terminal.show(renderer.paint(.green, Self.success(played)) + "\n")
    }
    Terminal.write(renderer.paint(.red, Self.failure(played, failed)) + "\n")
    return .other
  }

  nonisolated static func success(_ played: Int) -> String {
    played == 1 ? "1 scene went as declared" : "\(played) scenes went as declared"
  }

  nonisolated static func failure(_ played: Int, _ failed: [Int]) -> String {
    let names = failed.map { "\($0) “\(scenes[$0 - 1].title)”" }.joined(separator: ", ")
    return "\(failed.count) of \(played) did not go as declared: \(names)"
  }
}
