import ErrandTesting
import Foundation
import TestSupport
import Testing

/// The output of a download on a terminal and in a pipe.
struct DownloadTerminalTests {
  private static let content = RangeResource(size: 512 << 10)
  /// A bar: the bar itself, the percentage and the bytes.
  private static let bar = #" +\[=*>? *\] +[1-9]\d? % +[1-9][\d.]* KiB of 512\.0 KiB"#

  /// Whether a line is a bar. The rate may be missing, because it is measured over at least 0.1 seconds, and all bytes
  /// before a stall may arrive in that time.
  private static func isBar(_ line: String, of name: String) -> Bool {
    line.range(of: "^\(name)\(bar)", options: .regularExpression) != nil
  }

  private static func isDone(_ line: String, of name: String) -> Bool {
    line.range(of: "^\(name) +done, 512\\.0 KiB in ", options: .regularExpression) != nil
  }

  /// Whether the program behaved well on its terminal: nothing wrapped, the cursor stayed in the drawn lines, and line
  /// wrapping was enabled again.
  private static func isTidy(_ run: TerminalRun) -> Bool {
    let switches = run.text.ranges(of: "\u{1B}[?7l").count
    return switches > 0 && run.text.ranges(of: "\u{1B}[?7h").count == switches && !run.screen.hasEscaped
  }

  @Test func `a bar is redrawn in place`() async throws {
    let gate = Gate()
    // More than the transport reads at once, so that the limit spreads the bytes over the time that a rate needs.
    let content = RangeResource(size: 2 << 20)
    let server = try RangeServer(RangeBehaviour(content) { $0.fault = .stall(after: 3 << 19, until: gate) })
    try await DownloadFolder.with { folder async throws in
      let run = try TerminalRun(errand: "download", server.url, "-o", folder.file("film"), "--limit-rate", "2M")
      let bar = /^film +\[=*>? *\] +[1-9]\d? % +[1-9][\d.]* [KM]iB of 2\.0 MiB +[\d.]+ [KM]iB\/s +\d+:\d\d left$/
      #expect(await run.shows { $0.count == 1 && $0[0].contains(bar) }, "\(run.text)")
      #expect(try folder.names().contains("film.part") && !folder.names().contains("film"))
      gate.open()
      #expect(await run.finish() == 0)
      let lines = run.screen.lines
      #expect(lines.count == 1 && lines[0].contains(/^film +done, 2\.0 MiB in \d/), "\(lines)")
      // Each frame except the first moves up by one line.
      let frames = run.text.ranges(of: "\u{1B}[?7l").count
      #expect(frames > 2 && run.text.ranges(of: "\u{1B}[1A").count == frames - 1)
      #expect(Self.isTidy(run) && run.text.contains("\u{1B}[36m="))
      #expect(try content.firstDifference(folder.bytes("film")) == nil && folder.names() == ["film"])
    }
  }

  @Test func `a terminal without escapes gets lines`() async throws {
    let server = try RangeServer(RangeBehaviour(Self.content))
    try await DownloadFolder.with { folder async throws in
      let words = ["TERM=dumb", try BuiltProgram("errand").path, "download", server.url, "-o", folder.file("film")]
      let run = try TerminalRun(["/usr/bin/env"] + words)
      #expect(await run.finish() == 0)
      #expect(run.text.contains("film: done, 512.0 KiB") && !run.text.contains("\u{1B}"), "\(run.text)")
    }
  }

  @Test func `two files have two bars`() async throws {
    let gates = [Gate(), Gate()]
    let server = try LoopbackServer { request in
      .generated(count: 512 << 10).stalled(after: 384 << 10, until: gates[request.path == "/a" ? 0 : 1])
    }
    try await DownloadFolder.with { folder async throws in
      let run = try TerminalRun(
        errand: "download", server.url + "/a", server.url + "/b", "-d", folder.path, "--limit-rate", "500k")
      let hasBoth = await run.shows { lines in
        lines.count == 2 && Self.isBar(lines[0], of: "a") && Self.isBar(lines[1], of: "b")
      }
      #expect(hasBoth, "\(run.text)")
      // The line of an ended transfer stays above the others.
      gates[1].open()
      let hasOne = await run.shows { lines in
        lines.count == 2 && Self.isDone(lines[0], of: "b") && Self.isBar(lines[1], of: "a")
      }
      #expect(hasOne, "\(run.text)")
      gates[0].open()
      #expect(await run.finish() == 0)
      let lines = run.screen.lines
      #expect(lines.count == 2 && Self.isDone(lines[0], of: "b") && Self.isDone(lines[1], of: "a"), "\(lines)")
      #expect(Self.isTidy(run))
      #expect(try folder.names() == ["a", "b"] && folder.bytes("a").count == 512 << 10)
    }
  }

  @Test func `Ctrl-C keeps the part`() async throws {
    let gate = Gate()
    let server = try RangeServer { number in
      RangeBehaviour(Self.content) { if number == 1 { $0.fault = .stall(after: 384 << 10, until: gate) } }
    }
    try await DownloadFolder.with { folder async throws in
      let words = ["download", server.url, "-o", folder.file("film")]
      let run = try TerminalRun(errand: words[0], words[1], words[2], words[3], "--limit-rate", "500k")
      #expect(await run.shows { $0.count == 1 && Self.isBar($0[0], of: "film") }, "\(run.text)")
      try run.interrupt()
      #expect(await run.finish() == 130)
      // The terminal's echo of the key is overwritten, unless it arrives late.
      let lines = run.screen.lines.filter { $0 != "^C" }
      try #require(lines.count == 2, "\(lines)")
      #expect(lines[0].contains(/^film  stopped, [1-9][0-9.]* KiB kept$/), "\(lines)")
      #expect(lines[1].hasSuffix("The received bytes are kept; the same command resumes the download."))
      #expect(try Self.isTidy(run) && folder.names() == ["film.part", "film.part.meta"])
      let second = try TerminalRun(errand: words[0], words[1], words[2], words[3], "-c")
      #expect(await second.finish() == 0)
      let last = second.screen.lines
      #expect(last.count == 1 && last[0].contains(/^film  done, 512\.0 KiB in .* from an earlier run$/), "\(last)")
      #expect(try Self.content.firstDifference(folder.bytes("film")) == nil && folder.names() == ["film"])
      #expect(server.requests.last?.range.map { $0 != "bytes=0-" } == true)
    }
  }

  @Test func `a narrow terminal does not wrap`() async throws {
    let gate = Gate()
    let server = try RangeServer(RangeBehaviour(Self.content) { $0.fault = .stall(after: 384 << 10, until: gate) })
    try await DownloadFolder.with { folder async throws in
      let run = try TerminalRun(
        errand: "download", server.url, "-o", folder.file("a-rather-long-name"), "--limit-rate", "500k", columns: 30)
      #expect(await run.shows { $0.count == 1 && $0[0].contains(/^a-rather…ame +[1-9]\d? %$/) }, "\(run.text)")
      gate.open()
      #expect(await run.finish() == 0)
      #expect(Self.isTidy(run) && run.screen.lines.count == 1 && run.screen.lines[0].count < 30)
    }
  }

  /// There is a terminal, but the command's streams lead into a pipe.
  @Test func `a pipe gets lines without escape codes`() async throws {
    let server = try LoopbackServer { _ in .generated(count: 512 << 10) }
    try await DownloadFolder.with { folder async throws in
      let script = #""$0" "$@" 2>&1 | cat"#
      let errand = try BuiltProgram("errand").path
      let run = try TerminalRun(
        ["/bin/sh", "-c", script, errand, "download", server.url + "/a", server.url + "/b", "-d", folder.path])
      #expect(await run.finish() == 0)
      #expect(!run.text.contains("\u{1B}") && run.text.hasSuffix("\r\n"))
      let lines = run.screen.lines
      for name in ["a", "b"] {
        let own = lines.filter { $0.hasPrefix("\(name): ") }
        #expect(own.first == "\(name): starts, 512.0 KiB", "\(lines)")
        #expect(own.last?.hasPrefix("\(name): done, 512.0 KiB in ") == true, "\(lines)")
      }
      #expect(lines.allSatisfy { $0.hasPrefix("a: ") || $0.hasPrefix("b: ") }, "\(lines)")
      #expect(try folder.names() == ["a", "b"])
    }
  }
}
