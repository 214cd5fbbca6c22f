import Errand
import ErrandCache

struct CacheParser {
  private var words: ArraySlice<String>
  private let now: WallTime

  /// Parses all arguments. Ages are counted back from `now`.
  static func parse(_ words: [String], now: WallTime = .now) throws(UsageError) -> CacheOptions {
    var parser = CacheParser(words: words[...], now: now)
    return try parser.readAll()
  }

  private mutating func readAll() throws(UsageError) -> CacheOptions {
    guard let verb = words.popFirst() else { throw UsageError("a task is missing: list, show, stats or clear") }
    switch verb {
    case "list": return CacheOptions(folder: try onlyFolder(), task: .list)
    case "stats": return CacheOptions(folder: try onlyFolder(), task: .stats)
    case "show": return CacheOptions(folder: try folder(), task: .show(try request()))
    case "clear": return try clear()
    default: throw UsageError("unknown task “cache \(verb)”; use list, show, stats or clear")
    }
  }

  private mutating func folder() throws(UsageError) -> String {
    guard let folder = words.popFirst(), !folder.isEmpty else {
      throw UsageError("the store's folder is missing; write it after the task, as in “errand cache list DIR”")
    }
    guard !folder.hasPrefix("-") else {
      throw UsageError(
        "the store's folder must come first, but “\(folder)” looks like an option; write ./\(folder) for a folder")
    }
    return folder
  }

  private mutating func onlyFolder() throws(UsageError) -> String {
    let folder = try folder()
    if let more = words.first {
      throw UsageError("“\(more)” is one argument too many; only the store's folder is needed")
    }
    return folder
  }

  /// Parses the arguments that describe the request. Options for sending the request or for handling the response are
  /// rejected.
  private func request() throws(UsageError) -> SendOptions {
    let options = try SendParser.parse(Array(words))
    var rest = options
    (rest.method, rest.url, rest.items, rest.fields) = (nil, "", [], [])
    (rest.format, rest.credential) = (nil, .none)
    guard rest == SendOptions() else {
      throw UsageError(
        "“cache show” takes only arguments that describe the request: METHOD, URL, name=value, --json, --form, "
          + "--query, -H, --user and --bearer")
    }
    return options
  }

  // MARK: - Clear

  private mutating func clear() throws(UsageError) -> CacheOptions {
    let folder = try folder()
    var reader = WordReader(Array(words), flags: [], valued: ["--host", "--tag", "--older-than"])
    var selection: CacheSelection?
    while let item = try reader.next() {
      guard case .option(let name, let value) = item else {
        throw UsageError("“cache clear” takes only --host NAME, --tag WORD or --older-than AGE after the folder")
      }
      guard selection == nil else { throw UsageError("use only one of --host, --tag and --older-than") }
      guard !value.isEmpty else { throw UsageError("\(name) needs a value") }
      selection = try self.selection(name, value)
    }
    return CacheOptions(folder: folder, task: .clear(selection ?? .all))
  }

  private func selection(_ name: String, _ value: String) throws(UsageError) -> CacheSelection {
    switch name {
    case "--host": return .entries(ofHost: value)
    case "--tag": return .tag(value)
    default:
      let age = try SpanNotation.span(value, of: name) / .milliseconds(1)
      return .olderThan(now.advanced(byMilliseconds: -Int64(age.rounded())))
    }
  }
}

/// Parses durations such as 90, 30s, 10m, 2h and 7d.
enum SpanNotation {
  /// The length of each unit in seconds.
  private static let units: [Character: Double] = ["s": 1, "m": 60, "h": 3_600, "d": 86_400]
  private static let most: Double = 100 * 365 * 86_400

  /// Parses a positive duration. A number without a unit is in seconds.
  static func span(_ text: String, of option: String) throws(UsageError) -> Duration {
    guard let number = RequestNotation.number(text, units: units), number > 0, number <= most else {
      throw UsageError("\(option) needs a time such as 30s, 10m, 2h or 7d, not “\(text)”")
    }
    return .seconds(number)
  }
}

struct CacheOptions: Sendable, Equatable {
  enum Task: Sendable, Equatable {
    case list
    case show(SendOptions)
    case stats
    case clear(CacheSelection)
  }

  let folder: String
  let task: Task
}

extension HelpText {
  static let cache = #"""
    usage: errand cache list  DIR
           errand cache show  DIR [METHOD] URL [name=value …] [option …]
           errand cache stats DIR
           errand cache clear DIR [--host NAME | --tag WORD | --older-than AGE]

    Inspects a folder of cached responses, written by “errand send --cache DIR” or by a program that
    uses Errand's disk cache. It creates no folder, and sends no request.

      list                one line for each response, the most recently used first: its age, its
                          freshness by its own policy, the size of its body, status, method, URL with
                          masked query values, and tag
      show                headers and body of the response that is stored for a request. A plain URL
                          matches any method; with arguments or a METHOD, only that request matches.
                          Give the same arguments as for sending it: METHOD, URL, name=value, --json,
                          --form, --query, -H, --user and --bearer. Without a credential, it shows
                          responses that were stored without one. Further facts go to standard error
      stats               the number of responses and bytes, and their hosts
      clear               remove all responses, or some, and print how many were removed
        --host NAME         only responses from this host
        --tag WORD          only responses stored by calls with this tag
        --older-than AGE    only responses received longer ago than this: 30s 10m 2h 7d

    states
      fresh for 2m 48s    served without asking the server
      stale for 12s       the server is asked whether it is still valid
      always checked      stored, but the server is asked each time: no-cache
      age unknown         received in the future: the clock was set back

    examples
      errand cache list ~/.cache/shop
      errand cache show ~/.cache/shop https://api.example.com/users/7 | less
      errand cache clear ~/.cache/shop --older-than 7d

    exit status
      0  success                                        72  the folder is missing or contains no store
      1  any other failure                              75  another process uses the store
     64  wrong arguments                                77  access to the folder is denied
     66  show: nothing is stored for this request

    """#
}
