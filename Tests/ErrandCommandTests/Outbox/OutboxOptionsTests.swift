import ErrandOutbox
import Testing

@testable import ErrandCommand

struct OutboxOptionsTests {
  private static let open: [OutboxState] = [.queued, .sending, .rejected, .parked, .unknown, .expired]
  private static func id(_ number: Int64) -> OutboxEntry.ID { OutboxEntry.ID(rawValue: number) }

  @Test(
    arguments: [
      (["list", "d"], .list(open)), (["list", "d", "--all"], .list(OutboxState.allCases)),
      (["show", "d", "7"], .show(id(7))), (["resend", "d", "7", "8"], .resend([id(7), id(8)])),
      (["discard", "d", "7"], .discard([id(7)])),
    ] as [([String], OutboxOptions.Task)])
  func `arguments choose the task`(words: [String], task: OutboxOptions.Task) throws {
    let options = try OutboxOptions(words)
    #expect(options.folder == "d")
    #expect(options.task == task)
  }

  @Test(arguments: [
    [], ["frob"], ["list"], ["list", ""], ["list", "--all"], ["list", "d", "x"], ["show", "d"],
    ["show", "d", "1", "2"],
    ["show", "d", "x"], ["resend", "d"], ["resend", "d", "0"], ["discard", "d", "-1"],
  ])
  func `wrong arguments are rejected`(words: [String]) {
    #expect(throws: UsageError.self) { try OutboxOptions(words) }
  }

  @Test(arguments: [["x"], ["x", "--all"], ["--all", "x"]])
  func `unknown argument is named`(words: [String]) {
    let error = #expect(throws: UsageError.self) { try OutboxOptions(["list", "d"] + words) }
    #expect(error?.description == "“x” is unknown; “list” takes only --all")
  }
}
