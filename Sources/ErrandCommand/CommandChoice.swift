/// The command that the arguments choose.
enum CommandChoice: Sendable, Equatable {
  /// Run the demo scenes with these numbers; all scenes if the array is empty.
  case demo([Int])
  /// Send one request.
  case send([String])
  /// Download files.
  case download([String])
  /// Upload files.
  case upload([String])
  /// Inspect a cache folder, or remove entries from it.
  case cache([String])
  /// Print a requested text.
  case show(String)
  /// Fail, with a reason and a help text.
  case refuse(String, help: String)

  init(_ arguments: [String]) {
    let rest = Array(arguments.dropFirst())
    switch arguments.first {
    case nil: self = .refuse("a command is missing", help: HelpText.usage)
    case "demo": self = Self.demo(rest, count: Demo.scenes.count)
    case "send": self = Self.asksForHelp(rest) ? .show(HelpText.send) : .send(rest)
    case "download": self = Self.asksForHelp(rest) ? .show(HelpText.download) : .download(rest)
    case "upload": self = Self.asksForHelp(rest) ? .show(HelpText.upload) : .upload(rest)
    case "cache": self = Self.asksForHelp(rest) ? .show(HelpText.cache) : .cache(rest)
    case "help", "--help", "-h": self = Self.help(about: rest.first)
    case "--version", "version": self = .show("errand \(HelpText.version)\n")
    case let word?: self = .refuse("unknown command “\(word)”", help: HelpText.usage)
    }
  }

  private static func demo(_ words: [String], count: Int) -> CommandChoice {
    if asksForHelp(words) { return .show(HelpText.demo) }
    let numbers = words.compactMap { Int($0) }.filter { (1...count).contains($0) }
    guard numbers.count == words.count else {
      return .refuse("a scene number must be from 1 to \(count)", help: HelpText.demo)
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
    case let word?: .refuse("unknown command “\(word)”", help: HelpText.usage)
    }
  }

  /// Whether the arguments ask for help. Arguments after `--` are not options.
  private static func asksForHelp(_ words: [String]) -> Bool {
    words.prefix { $0 != "--" }.contains { $0 == "--help" || $0 == "-h" }
  }
}
