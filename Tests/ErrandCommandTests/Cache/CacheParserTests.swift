import Errand
import ErrandCache
import Testing

@testable import ErrandCommand

struct CacheParserTests {
  @Test(
    arguments: [
      (["list", "d"], .list), (["stats", "d"], .stats), (["clear", "d"], .clear(.all)),
      (["clear", "d", "--host", "API.Example.com"], .clear(.host("api.example.com"))),
      (["clear", "d", "--host=h"], .clear(.host("h"))), (["clear", "d", "--host", "::1"], .clear(.host("[::1]"))),
      (["clear", "d", "--host", "b\u{fc}cher.example"], .clear(.host("xn--bcher-kva.example"))),
      (["clear", "d", "--tag", "feed"], .clear(.tag("feed"))),
      (["clear", "d", "--older-than", "10m"], .clear(.olderThan(WallTime(milliseconds: 400_000)))),
      (["clear", "d", "--older-than=0.5"], .clear(.olderThan(WallTime(milliseconds: 999_500)))),
      (["clear", "d", "--older-than=7d"], .clear(.olderThan(WallTime(milliseconds: -603_800_000)))),
    ] as [([String], CacheOptions.Task)])
  func `arguments select a task`(words: [String], task: CacheOptions.Task) throws {
    let now = WallTime(milliseconds: 1_000_000)
    #expect(try CacheParser.parse(words, now: now) == CacheOptions(folder: "d", task: task))
  }

  @Test func `show accepts the arguments of send`() throws {
    let words = ["POST", "h", "--json", "a:=1", "--bearer", "t", "-H", "X: y"]
    let options = try CacheParser.parse(["show", "d"] + words)
    #expect(options == CacheOptions(folder: "d", task: .show(try SendParser.parse(words))))
  }

  @Test(arguments: [
    ([], "a task is missing: list, show, stats or clear"), (["frob", "d"], "unknown task “cache frob”"),
    (["list"], "folder is missing"), (["list", ""], "folder is missing"), (["list", "-x"], "write ./-x"),
    (["list", "d", "e"], "“e” is one argument too many"), (["show", "d"], "a URL is missing"),
    (["show", "d", "h", "-v"], "only arguments that describe the request"),
    (["show", "d", "h", "--cache", "e"], "only arguments that describe"),
    (["show", "d", "h", "-o", "f"], "only arguments that describe"),
    (["clear", "d", "all"], "takes only --host NAME, --tag WORD"),
    (["clear", "d", "--all"], "unknown option “--all”"),
    (["clear", "d", "--host"], "--host needs a value"), (["clear", "d", "--host="], "--host needs a value"),
    (["clear", "d", "--host", "a", "--tag", "b"], "use only one of"),
    (["clear", "d", "--older-than", "soon"], "not “soon”"),
  ])
  func `wrong arguments are rejected with help`(words: [String], message: String) {
    let error = #expect(throws: UsageError.self) { try CacheParser.parse(words) }
    #expect(error?.description.contains(message) == true, "\(error?.description ?? "no error")")
  }

  @Test(
    arguments: [
      ("30s", .seconds(30)), ("10m", .seconds(600)), ("2h", .seconds(7_200)), ("7d", .seconds(604_800)),
      ("90", .seconds(90)), ("0.5", .milliseconds(500)), ("1.5m", .seconds(90)),
    ] as [(String, Duration)])
  func `durations have units`(text: String, span: Duration) throws {
    #expect(try SpanNotation.span(text, of: "--x") == span)
  }

  @Test(arguments: ["", "s", "-1s", "0", "0s", "1w", "1 s", "1e9", "inf", "nan", "1.2.3", "99999999999d", "７d", "+1s"])
  func `invalid durations are rejected`(text: String) {
    #expect(throws: UsageError.self) { try SpanNotation.span(text, of: "--x") }
  }
}
