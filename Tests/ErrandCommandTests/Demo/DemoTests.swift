import Foundation
import Testing

@testable import ErrandCommand

struct DemoTests {
  @Test func `marked lines are shown unindented`() {
    let lines = [
      "import A", "  // shown: begin", "  let a = 1", "", "    + 2", "  // shown: end", "hidden",
      "    // shown: begin", "    print(a)", "    // shown: end",
    ]
    #expect(SceneSource.marked(lines) == ["let a = 1", "", "  + 2", "print(a)"])
    #expect(SceneSource.marked(["a", "  // shown: end", "b"]).isEmpty)
  }

  @Test func `a missing source file shows nothing`() {
    #expect(SceneSource(file: "/nowhere/Scene.swift").shown.isEmpty)
    let report = SceneReport(declared: "", sent: [["GET /"]])
    #expect(SceneRenderer(paint: .plain).body(report).hasPrefix("sent"))
  }

  @MainActor @Test func `every scene fits one screen`() async throws {
    let servers = try DemoServers()
    for (index, scene) in Demo.scenes.enumerated() {
      let stage = Stage(scene, servers)
      try await scene.play(on: stage)
      for check in stage.report.checks { #expect(check.passed, "\(scene.title): \(check.sentence)") }
      #expect(stage.report.declared.contains("\n"), "\(scene.title): no code is shown")
      #expect(!stage.report.sent.isEmpty, "\(scene.title): no request is shown")
      #expect(!stage.report.received.isEmpty, "\(scene.title): nothing received is shown")
      check(stage.report, of: scene, number: index + 1)
    }
  }

  private func check(_ report: SceneReport, of scene: any DemoScene, number: Int) {
    let renderer = SceneRenderer(paint: .plain)
    let text = renderer.heading(scene.title, number: number, of: Demo.scenes.count) + "\n\n" + renderer.body(report)
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    #expect(lines.count <= 40, "\(scene.title)")
    for line in lines { #expect(TextLayout.width(line) <= SceneRenderer.columns) }
    for line in report.declared.split(separator: "\n") { #expect(TextLayout.width(line) <= 88, "\(line)") }
  }

  @Test func `failed scenes are named at the end`() {
    #expect(Demo.success(17) == "17 scenes passed their checks")
    #expect(Demo.success(1) == "1 scene passed its checks")
    #expect(Demo.failure(17, [2]).hasPrefix("1 of 17 scenes did not pass their checks: 2 “Register by POST"))
  }

  @Test func `a scene without checks has failed`() {
    var report = SceneReport(declared: "d")
    #expect(!report.wentAsDeclared)
    report.checks.append(.init(sentence: "so it is", passed: true))
    #expect(report.wentAsDeclared)
    report.checks.append(.init(sentence: "and so", passed: false))
    #expect(!report.wentAsDeclared)
    #expect(SceneRenderer(paint: .plain).body(report).contains("✗ and so"))
  }
}
