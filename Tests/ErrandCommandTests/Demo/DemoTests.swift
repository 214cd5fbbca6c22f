import Foundation
import Testing

@testable import ErrandCommand

@Suite struct DemoTests {
  @Test(arguments: Demo.scenes.indices) func `what is shown is what runs`(index: Int) throws {
    let scene = Demo.scenes[index]
    let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: "Sources/ErrandCommand/Demo/Scenes")
    let source = try String(contentsOf: folder.appending(path: "\(type(of: scene)).swift"), encoding: .utf8)
    let lines = source.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
    for shown in scene.declared.split(separator: "\n").map({ $0.trimmingCharacters(in: .whitespaces) }) {
      #expect(lines.count { $0 == shown } >= 2, "the scene's code lacks: \(shown)")
    }
  }

  @MainActor @Test func `every scene fits one screen`() async throws {
    let servers = try DemoServers()
    for (index, scene) in Demo.scenes.enumerated() {
      let stage = Stage(scene, servers, drawing: nil)
      try await scene.play(on: stage)
      for claim in stage.report.claims { #expect(claim.holds, "\(scene.title): \(claim.sentence)") }
      #expect(!stage.report.wire.isEmpty, "\(scene.title): nothing of the wire is shown")
      #expect(!stage.report.cameBack.isEmpty, "\(scene.title): nothing is shown of what came back")
      check(stage.report, number: index + 1)
    }
  }

  private func check(_ report: SceneReport, number: Int) {
    let renderer = SceneRenderer(paint: .plain)
    let text =
      renderer.heading(report.title, number: number, of: Demo.scenes.count) + "\n\n" + renderer.body(report)
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    #expect(lines.count <= 40, "\(report.title)")
    for line in lines { #expect(TextLayout.width(line) <= SceneRenderer.columns) }
    for line in report.declared.split(separator: "\n") { #expect(TextLayout.width(line) <= 88, "\(line)") }
  }

  @Test func `failures are named at the end`() {
    #expect(Demo.success(17) == "17 scenes went as declared")
    #expect(Demo.success(1) == "1 scene went as declared")
    #expect(Demo.failure(17, [2]).hasPrefix("1 of 17 did not go as declared: 2 “Register by POST"))
  }

  @Test func `a scene without claims has failed`() {
    var report = SceneReport(title: "t", declared: "d")
    #expect(!report.wentAsDeclared)
    report.claims.append(.init(sentence: "so it is", holds: true))
    #expect(report.wentAsDeclared)
    report.claims.append(.init(sentence: "and so", holds: false))
    #expect(!report.wentAsDeclared)
    #expect(SceneRenderer(paint: .plain).body(report).contains("✗ and so"))
  }
}
