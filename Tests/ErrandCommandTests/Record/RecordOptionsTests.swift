import Testing

@testable import ErrandCommand

struct RecordOptionsTests {
  @Test(
    arguments: [
      (["f"], .list, false), (["f", "list", "--json"], .list, true), (["f", "why", "7"], .why("7"), false),
      (["--json", "f", "why", "last"], .why("last"), true), (["f", "diff", "1", "2"], .diff("1", "2"), false),
      (["f", "diff", "other.har"], .compare("other.har"), false), (["f", "curl", "1f:7"], .curl("1f:7"), false),
      (["f", "har"], .har, false), (["f", "page"], .page, false),
    ] as [([String], RecordOptions.Task, Bool)])
  func `arguments choose the task`(words: [String], task: RecordOptions.Task, isJSON: Bool) throws {
    let options = try RecordOptions(words)
    #expect(options.file == "f" && options.task == task && options.isJSON == isJSON)
  }

  @Test(arguments: [
    [], [""], ["f", "frob"], ["f", "list", "x"], ["f", "why"], ["f", "why", "1", "2"], ["f", "diff"],
    ["f", "diff", "1", "2", "3"], ["f", "curl"], ["f", "har", "x"], ["f", "har", "--json"], ["f", "page", "x"],
    ["f", "page", "--json"],
    ["f", "curl", "1", "--json"],
    ["f", "--frob"],
  ])
  func `wrong arguments are rejected`(words: [String]) {
    #expect(throws: UsageError.self) { try RecordOptions(words) }
  }
}
