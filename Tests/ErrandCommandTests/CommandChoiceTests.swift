import Errand
import ErrandCore
import Testing

@testable import ErrandCommand

struct CommandChoiceTests {
  private static let sceneNumbers = "use numbers from 1 to \(Demo.scenes.count)"

  @Test(
    arguments: [
      (["demo"], .demo([])), (["demo", "3", "1"], .demo([3, 1])), (["demo", "-h"], .show(HelpText.demo)),
      (["send", "h", "a=1"], .run(.send, ["h", "a=1"])), (["send", "--help"], .show(HelpText.send)),
      (["send", "h", "--", "-h"], .run(.send, ["h", "--", "-h"])), (["help"], .show(HelpText.usage)),
      (["--help"], .show(HelpText.usage)), (["help", "send"], .show(HelpText.send)),
      (["cache", "list", "d"], .run(.cache, ["list", "d"])), (["cache", "list", "--help"], .show(HelpText.cache)),
      (["help", "cache"], .show(HelpText.cache)), (["cache"], .run(.cache, [])),
      (["outbox", "list", "d"], .run(.outbox, ["list", "d"])), (["outbox", "--help"], .show(HelpText.outbox)),
      (["help", "outbox"], .show(HelpText.outbox)),
      (["record", "f", "why", "7"], .run(.record, ["f", "why", "7"])), (["record", "-h"], .show(HelpText.record)),
      (["help", "record"], .show(HelpText.record)), (["mcp", "f"], .run(.mcp, ["f"])),
      (["mcp", "--help"], .show(HelpText.mcp)), (["help", "mcp"], .show(HelpText.mcp)),
      (["generate", "a.json"], .run(.generate, ["a.json"])), (["generate", "--help"], .show(HelpText.generate)),
      (["help", "generate"], .show(HelpText.generate)),
      (["download", "-c"], .run(.download, ["-c"])), (["download", "u", "-h"], .show(HelpText.download)),
      (["help", "download"], .show(HelpText.download)), (["help", "upload"], .show(HelpText.upload)),
      (["upload", "f", "u"], .run(.upload, ["f", "u"])), (["upload", "--help"], .show(HelpText.upload)),
      (["help", "demo"], .show(HelpText.demo)), (["--version"], .show("errand \(HelpText.version)\n")),
      ([], .reject("a command is missing", help: HelpText.usage)),
      (["frob"], .reject("unknown command “frob”", help: HelpText.usage)),
      (["help", "frob"], .reject("unknown command “frob”", help: HelpText.usage)),
      (["demo", "1", "x", "0"], .reject("“x” is not a scene number; \(sceneNumbers)", help: HelpText.demo)),
      (["demo", "99"], .reject("“99” is not a scene number; \(sceneNumbers)", help: HelpText.demo)),
    ] as [([String], CommandChoice)])
  func `the first arguments choose the command`(words: [String], choice: CommandChoice) {
    #expect(CommandChoice(words) == choice)
  }

  @Test(arguments: [
    HelpText.usage, HelpText.demo, HelpText.send, HelpText.cache, HelpText.download, HelpText.upload, HelpText.outbox,
    HelpText.record, HelpText.mcp,
    HelpText.generate,
  ])
  func `help fits the screen`(text: String) {
    for line in text.split(separator: "\n") { #expect(TextLayout.width(line) <= 100, "\(line)") }
    #expect(text.hasSuffix("\n"))
  }

  private static let ofTransfers: Set<ExitCode> = [.disk, .changed, .broken, .exists, .busy]

  @Test(arguments: ExitCode.allCases.filter { !ofTransfers.contains($0) })
  func `send help lists the exit statuses`(code: ExitCode) {
    #expect(HelpText.send.contains(" \(code.rawValue)  "))
  }

  @Test(arguments: ExitCode.allCases.filter { $0 != .noStore && $0 != .forbidden })
  func `download help lists the exit statuses`(code: ExitCode) {
    #expect(HelpText.download.contains(" \(code.rawValue)  "))
  }

  @Test(arguments: [
    ExitCode.success, .other, .nameLookup, .refused, .status, .timeout, .changed, .broken, .tls, .usage, .notStored,
    .interrupted,
  ])
  func `upload help lists the exit statuses`(code: ExitCode) {
    #expect(HelpText.upload.contains(" \(code.rawValue)  "))
  }

  @Test(arguments: [ExitCode.success, .other, .usage, .notStored, .noStore, .forbidden])
  func `cache help lists the exit statuses`(code: ExitCode) {
    #expect(HelpText.cache.contains(" \(code.rawValue)  "))
  }

  @Test(arguments: [ExitCode.success, .other, .usage, .data, .notStored, .noStore, .busy])
  func `outbox help lists the exit statuses`(code: ExitCode) {
    #expect(HelpText.outbox.contains(" \(code.rawValue)  "))
  }

  @Test(arguments: [ExitCode.success, .other, .usage, .data, .notStored, .noStore])
  func `record help lists the exit statuses`(code: ExitCode) {
    #expect(HelpText.record.contains(" \(code.rawValue)  "))
  }

  @Test(arguments: SendCache.modes.map(\.word))
  func `send help lists every cache mode`(word: String) {
    #expect(HelpText.send.contains("\n        \(word) "))
  }

  @Test func `every cache mode has a name`() {
    #expect(Set(SendCache.modes.map(\.mode)) == Set(CacheReadMode.allCases))
    #expect(SendCache.modes.count == CacheReadMode.allCases.count)
  }

  @Test(
    arguments: [
      (APIError(.build, .invalidURL, ""), .usage), (APIError(.build, .unsupported, ""), .other),
      (APIError(.validate, .status, ""), .status), (APIError(.validate, .shape, ""), .data),
      (APIError(.validate, .notJSON, ""), .data), (APIError(.decode, .decoding, ""), .data),
      (APIError(.deadline, .deadline, ""), .timeout), (APIError(.cancelled, .cancelled, ""), .interrupted),
      (APIError(.transport, .init(rawValue: "nameLookup"), ""), .nameLookup),
      (APIError(.transport, .init(rawValue: "refused"), ""), .refused),
      (APIError(.transport, .init(rawValue: "connectTimeout"), ""), .timeout),
      (APIError(.transport, .init(rawValue: "idleTimeout"), ""), .timeout),
      (APIError(.transport, .init(rawValue: "tls"), ""), .tls),
      (APIError(.transport, .init(rawValue: "reset"), ""), .other),
      (APIError(.cache, .cacheMiss, ""), .notStored), (APIError(.cache, .init(rawValue: "x"), ""), .other),
      (APIError(.redirect, .tooManyRedirects, ""), .other),
    ] as [(APIError, ExitCode)])
  func `an error has its exit status`(error: APIError, code: ExitCode) {
    #expect(ExitCode(error) == code)
  }

  @Test(
    arguments: [
      (APIError(.transfer, .diskFull, ""), .disk), (APIError(.transfer, .file, ""), .disk),
      (APIError(.transfer, .checksumMismatch, ""), .data), (APIError(.transfer, .resumeMismatch, ""), .changed),
      (APIError(.transfer, .busy, ""), .busy), (APIError(.transfer, .fileExists, ""), .exists),
      (APIError(.transfer, .init(rawValue: "x"), ""), .other), (APIError(.deadline, .deadline, ""), .timeout),
      (APIError(.transport, .init(rawValue: "truncated"), ""), .broken),
      (APIError(.transport, .init(rawValue: "reset"), ""), .broken),
      (APIError(.transport, .init(rawValue: "bodyChanged"), ""), .changed),
      (APIError(.transport, .init(rawValue: "nameLookup"), ""), .nameLookup),
      (APIError(.validate, .status, ""), .status), (APIError(.cancelled, .cancelled, ""), .interrupted),
    ] as [(APIError, ExitCode)])
  func `a transfer error has its exit status`(error: APIError, code: ExitCode) {
    #expect(ExitCode.ofTransfer(error) == code)
  }
}
