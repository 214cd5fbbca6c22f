/// What the first words after `errand` ask for.
enum CommandChoice: Sendable, Equatable {
  /// Play the scenes with these numbers; all of them where there is none.
  case demo([Int])
  /// Send one request.
  case send([String])
  /// Download files.
  case download([String])
  /// Upload files.
  case upload([String])
  /// Look into a store, or remove from it.
  case cache([String])
  /// Show a text that was asked for.
  case show(String)
  /// Refuse, with a reason and what helps.
  case refuse(String, help: String)

  init(_ arguments: [String]) {
    let rest = Array(arguments.dropFirst())
    switch arguments.first {
    case nil: self = .refuse("say what to do", help: HelpText.usage)
    case "demo": self = Self.demo(rest, count: Demo.scenes.count)
    case "send": self = Self.asksForHelp(rest) ? .show(HelpText.send) : .send(rest)
    case "download": self = Self.asksForHelp(rest) ? .show(HelpText.download) : .download(rest)
    case "upload": self = Self.asksForHelp(rest) ? .show(HelpText.upload) : .upload(rest)
    case "cache": self = Self.asksForHelp(rest) ? .show(HelpText.cache) : .cache(rest)
    case "help", "--help", "-h": self = Self.help(about: rest.first)
    case "--version", "version": self = .show("errand \(HelpText.version)\n")
    case let word?: self = .refuse("there is no command “\(word)”", help: HelpText.usage)
    }
  }

  private static func demo(_ words: [String], count: Int) -> CommandChoice {
    if asksForHelp(words) { return .show(HelpText.demo) }
    let numbers = words.compactMap { Int($0) }.filter { (1...count).contains($0) }
    guard numbers.count == words.count else {
      return .refuse("a scene is chosen by its number, 1 to \(count)", help: HelpText.demo)
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
    case let word?: .refuse("there is no command “\(word)”", help: HelpText.usage)
    }
  }

  /// Behind `--` nothing is an option.
  private static func asksForHelp(_ words: [String]) -> Bool {
    words.prefix { $0 != "--" }.contains { $0 == "--help" || $0 == "-h" }
  }
}
