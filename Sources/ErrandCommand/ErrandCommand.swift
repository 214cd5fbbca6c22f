import Foundation

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
    case .run(let command, let arguments):
      return await run(command, arguments)
    case .show(let text):
      return Terminal.show(text)
    case .reject(let reason, let help):
      Terminal.write("errand: \(PlainText.visible(reason))\n\n\(help)", to: .error)
      return .usage
    }
  }

  @MainActor
  private static func run(_ command: Subcommand, _ arguments: [String]) async -> ExitCode {
    switch command {
    case .send: await SendCommand.run(arguments)
    case .download: await DownloadCommand.run(arguments)
    case .upload: await UploadCommand.run(arguments)
    case .cache: await CacheCommand.run(arguments)
    case .outbox: OutboxCommand.run(arguments)
    case .record: RecordCommand.run(arguments)
    case .mcp: MCPCommand.run(arguments)
    case .generate: GenerateCommand.run(arguments)
    }
  }
}

/// The commands that parse their own arguments: all except `demo` and `help`.
enum Subcommand: String, Sendable {
  case send, download, upload, cache, outbox, record, mcp, generate

  var help: String {
    switch self {
    case .send: HelpText.send
    case .download: HelpText.download
    case .upload: HelpText.upload
    case .cache: HelpText.cache
    case .outbox: HelpText.outbox
    case .record: HelpText.record
    case .mcp: HelpText.mcp
    case .generate: HelpText.generate
    }
  }
}

/// The command that the arguments choose.
enum CommandChoice: Sendable, Equatable {
  /// Play the scenes of the demo with these numbers. If the array is empty, play all scenes.
  case demo([Int])
  case run(Subcommand, [String])
  /// Print a text that the user asked for, such as a help text.
  case show(String)
  /// Reject the arguments: print the reason and a help text.
  case reject(String, help: String)

  init(_ arguments: [String]) {
    let rest = Array(arguments.dropFirst())
    switch arguments.first {
    case nil: self = .reject("a command is missing", help: HelpText.usage)
    case "demo": self = Self.demo(rest, count: Demo.scenes.count)
    case "help", "--help", "-h": self = Self.help(about: rest.first)
    case "--version", "version": self = .show("errand \(HelpText.version)\n")
    case let word?:
      guard let command = Subcommand(rawValue: word), !Self.asksForHelp(rest) else {
        self = Self.help(about: word)
        return
      }
      self = .run(command, rest)
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
    guard let word else { return .show(HelpText.usage) }
    if word == "demo" { return .show(HelpText.demo) }
    guard let command = Subcommand(rawValue: word) else {
      return .reject("unknown command “\(word)”", help: HelpText.usage)
    }
    return .show(command.help)
  }

  /// Whether the arguments ask for help. Arguments after `--` are not options.
  private static func asksForHelp(_ words: [String]) -> Bool {
    words.prefix { $0 != "--" }.contains { $0 == "--help" || $0 == "-h" }
  }
}

enum HelpText {
  static let version = "0.1.0"

  static let usage = """
    errand: HTTP requests as typed values, on the command line

    usage: errand demo [NUMBER …]       play the everyday scenes with embedded servers
           errand send [METHOD] URL …   send one request
           errand download URL …        download files, and resume interrupted downloads
           errand upload FILE … URL     send files, or a form with files
           errand cache VERB DIR …      inspect a folder of cached responses: list, show, stats, clear
           errand outbox VERB DIR …     inspect a folder of waiting changes: list, show, resend, discard
           errand record FILE …         show recorded calls: list, why, diff, curl, har, page
           errand mcp [FILE]            serve recorded calls to agents (Model Context Protocol)
           errand generate DOCUMENT …   write Swift requests and models from an OpenAPI document
           errand help [COMMAND]        print the help of a command, such as send or generate
           errand --version

    try:   errand demo
           errand send https://example.com -v
           errand download https://example.com/big.iso -c
           errand send https://example.com --cache /tmp/kept && errand cache list /tmp/kept

    """

  static let demo = """
    usage: errand demo [NUMBER …]

    Starts two servers on this machine, an API and a CDN, and plays the everyday scenes with them.
    A scene is a short program. It shows what was declared, sent, received and checked. Numbers choose
    scenes; without numbers, all scenes are played. Secrets are masked; nothing leaves the machine.

    \(scenes)

    Exit status: 0 if every scene passed its checks, 1 if a scene did not, 64 for wrong arguments.
    NO_COLOR=1 disables colours.

    """

  private static var scenes: String {
    Demo.scenes.enumerated().map { index, scene in
      let number = String(index + 1)
      return "  \(String(repeating: " ", count: max(0, 2 - number.count)))\(number)  \(scene.title)"
    }.joined(separator: "\n")
  }
}
