import Foundation

/// The entry point of the command `errand`.
@main
enum ErrandCommand {
  @MainActor
  static func main() async {
    Terminal.prepare()
    let code = await run(Array(CommandLine.arguments.dropFirst()))
    Interruption.raiseReceivedSignal()
    exit(code.rawValue)
  }

  @MainActor
  private static func run(_ arguments: [String]) async -> ExitCode {
    switch CommandChoice(arguments) {
    case .demo(let numbers):
      return await Demo(paint: Terminal.paint(for: .output)).play(numbers)
    case .send(let arguments): return await SendCommand.run(arguments)
    case .download(let arguments): return await DownloadCommand.run(arguments)
    case .upload(let arguments): return await UploadCommand.run(arguments)
    case .cache(let arguments): return await CacheCommand.run(arguments)
    case .outbox(let arguments): return OutboxCommand.run(arguments)
    case .record(let arguments): return RecordCommand.run(arguments)
    case .mcp(let arguments): return MCPCommand.run(arguments)
    case .generate(let arguments): return GenerateCommand.run(arguments)
    case .show(let text):
      return Terminal.show(text)
    case .reject(let reason, let help):
      Terminal.write("errand: \(PlainText.visible(reason))\n\n\(help)", to: .error)
      return .usage
    }
  }
}

/// The command that the arguments choose.
enum CommandChoice: Sendable, Equatable {
  /// Play the scenes of the demo with these numbers. If the array is empty, play all scenes.
  case demo([Int])
  /// Send one request. The array contains the arguments after the word `send`.
  case send([String])
  /// Download files. The array contains the arguments after the word `download`.
  case download([String])
  /// Upload files. The array contains the arguments after the word `upload`.
  case upload([String])
  /// Inspect a cache folder, or remove entries from the folder. The array contains the arguments after the word
  /// `cache`.
  case cache([String])
  /// List the entries of an outbox, or decide about them. The array contains the arguments after the word `outbox`.
  case outbox([String])
  /// Show the calls of a flight file or an HTTP archive. The array contains the arguments after the word `record`.
  case record([String])
  /// Serve recorded calls to agents. The array contains the arguments after the word `mcp`.
  case mcp([String])
  /// Write Swift code for the API that a document describes. The array contains the arguments after the word
  /// `generate`.
  case generate([String])
  /// Print a text that the user asked for, such as a help text.
  case show(String)
  /// Reject the arguments: print the reason and a help text.
  case reject(String, help: String)

  init(_ arguments: [String]) {
    let rest = Array(arguments.dropFirst())
    switch arguments.first {
    case nil: self = .reject("a command is missing", help: HelpText.usage)
    case "demo": self = Self.demo(rest, count: Demo.scenes.count)
    case "send": self = Self.asksForHelp(rest) ? .show(HelpText.send) : .send(rest)
    case "download": self = Self.asksForHelp(rest) ? .show(HelpText.download) : .download(rest)
    case "upload": self = Self.asksForHelp(rest) ? .show(HelpText.upload) : .upload(rest)
    case "cache": self = Self.asksForHelp(rest) ? .show(HelpText.cache) : .cache(rest)
    case "outbox": self = Self.asksForHelp(rest) ? .show(HelpText.outbox) : .outbox(rest)
    case "record": self = Self.asksForHelp(rest) ? .show(HelpText.record) : .record(rest)
    case "mcp": self = Self.asksForHelp(rest) ? .show(HelpText.mcp) : .mcp(rest)
    case "generate": self = Self.asksForHelp(rest) ? .show(HelpText.generate) : .generate(rest)
    case "help", "--help", "-h": self = Self.help(about: rest.first)
    case "--version", "version": self = .show("errand \(HelpText.version)\n")
    case let word?: self = .reject("unknown command “\(word)”", help: HelpText.usage)
    }
  }

  private static func demo(_ words: [String], count: Int) -> CommandChoice {
    if asksForHelp(words) { return .show(HelpText.demo) }
    var numbers: [Int] = []
    for word in words {
      guard let number = Int(word), (1...count).contains(number) else {
        return .reject("“\(word)” is not a scene number; use numbers from 1 to \(count)", help: HelpText.demo)
      }
      numbers.append(number)
    }
    return .demo(numbers)
  }

  private static func help(about word: String?) -> CommandChoice {
    switch word {
    case nil: .show(HelpText.usage)
    case "demo": .show(HelpText.demo)
    case "send": .show(HelpText.send)
    case "download": .show(HelpText.download)
    case "upload": .show(HelpText.upload)
    case "cache": .show(HelpText.cache)
    case "outbox": .show(HelpText.outbox)
    case "record": .show(HelpText.record)
    case "mcp": .show(HelpText.mcp)
    case "generate": .show(HelpText.generate)
    case let word?: .reject("unknown command “\(word)”", help: HelpText.usage)
    }
  }

  /// Whether the arguments ask for help. Arguments after `--` are not options.
  private static func asksForHelp(_ words: [String]) -> Bool {
    words.prefix { $0 != "--" }.contains { $0 == "--help" || $0 == "-h" }
  }
}
