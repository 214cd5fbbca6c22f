import Foundation
import TestSupport
import Testing

@testable import ErrandCommand

struct CommandTests {
  @Test func `the demo succeeds and shows no secret`() async throws {
    let run = try await BuiltCommand.run(["demo"])
    #expect(run.status == 0, "\(run.text.split(separator: "\n").filter { $0.contains("✗") })")
    #expect(run.text.hasSuffix("\n\(Demo.scenes.count) scenes passed their checks\n"))
    #expect(!run.text.contains("\u{1B}") && run.error == "")
    for secret in ["open sesame", "analytical\"}", "YWRhOmFuYWx5dGljYWw", "ZW5naW5l"] {
      let wire = run.text.split(separator: "\nsent").dropFirst().compactMap { $0.split(separator: "\nreceived").first }
      #expect(!wire.contains { $0.contains(secret) }, "\(secret)")
    }
  }

  @Test func `one scene can be chosen`() async throws {
    let run = try await BuiltCommand.run(["demo", "2"])
    #expect(run.status == 0 && run.text.hasSuffix("\n1 scene passed its checks\n"))
  }

  @Test(arguments: [
    [], ["frob"], ["demo", "x"], ["send"], ["send", "--frob"], ["cache"], ["cache", "list"], ["cache", "frob", "d"],
    ["cache", "clear", "d", "--older-than", "x"], ["send", "h", "--mode", "only"],
  ])
  func `wrong arguments end with status 64`(words: [String]) async throws {
    let run = try await BuiltCommand.run(words)
    #expect(run.status == 64 && run.output.isEmpty && run.error.hasPrefix("errand: "))
    #expect(run.error.contains("usage:") || run.error.contains("--help"))
  }

  @Test(arguments: [
    ["help"], ["--help"], ["send", "--help"], ["demo", "--help"], ["cache", "--help"], ["help", "cache"], ["--version"],
  ])
  func `help goes to standard output`(words: [String]) async throws {
    let run = try await BuiltCommand.run(words)
    #expect(run.status == 0 && !run.output.isEmpty && run.error == "")
  }
}
