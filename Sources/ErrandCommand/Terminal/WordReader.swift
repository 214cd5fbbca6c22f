import ErrandSupport

/// Splits the arguments of a command into options and other arguments.
///
/// `--name value`, `--name=value`, `-n value` and `-nvalue` are equivalent. No argument after `--` is an option.
struct WordReader {
  enum Item: Equatable {
    /// An option without a value. The text is the name of the option.
    case flag(String)
    /// An option with its value. The first text is the name of the option.
    case option(String, value: String)
    case argument(String)
  }

  private var words: ArraySlice<String>
  private let flags: Set<String>
  private let valued: Set<String>
  private var isPlain = false

  /// Creates a reader. `flags` are the names of the options without a value, `valued` the names of the options with a
  /// value.
  init(_ words: [String], flags: Set<String>, valued: Set<String>) {
    self.words = words[...]
    self.flags = flags
    self.valued = valued
  }

  /// The next option or argument; nil after the last one.
  mutating func next() throws(UsageError) -> Item? {
    guard let word = words.popFirst() else { return nil }
    // Compares bytes: a hyphen or an equals sign with a combining accent is another `Character`.
    if isPlain || word.utf8.first != UInt8(ascii: "-") || word.utf8.count == 1 { return .argument(word) }
    if word == "--" {
      isPlain = true
      return try next()
    }
    return try option(word)
  }

  private mutating func option(_ word: String) throws(UsageError) -> Item {
    let name: String
    let attached: String?
    if word.utf8.starts(with: "--".utf8) {
      let parts = word.cut(at: "=")
      (name, attached) = (parts.map { String($0.before) } ?? word, parts.map { String($0.behind) })
    } else {
      let value = word.unicodeScalars.dropFirst(2)
      (name, attached) = (String(word.unicodeScalars.prefix(2)), value.isEmpty ? nil : String(value))
    }
    if flags.contains(name) {
      guard attached == nil else { throw UsageError("\(name) takes no value") }
      return .flag(name)
    }
    guard valued.contains(name) else {
      throw UsageError("unknown option “\(name)”; put arguments that start with - after --")
    }
    guard let value = attached ?? words.popFirst() else { throw UsageError("\(name) needs a value") }
    return .option(name, value: value)
  }
}
