struct RecordOptions: Equatable {
  enum Task: Equatable {
    case list
    case why(String)
    /// Compare two calls of the file.
    case diff(String, String)
    /// Compare the calls of the file with those of another file.
    case compare(String)
    case curl(String)
    case har
    case page
  }

  /// The flight file or the HTTP archive.
  let file: String
  let task: Task
  let isJSON: Bool

  private static let tasks = "list, why, diff, curl, har or page"

  init(_ words: [String]) throws(UsageError) {
    var reader = WordReader(words, flags: ["--json"], valued: [])
    var arguments: [String] = []
    var isJSON = false
    while let item = try reader.next() {
      switch item {
      case .flag, .option: isJSON = true
      case .argument(let word): arguments.append(word)
      }
    }
    guard let file = arguments.first, !file.isEmpty else {
      throw UsageError("the file is missing; name a flight file or an HTTP archive, as in “errand record FILE”")
    }
    self.file = file
    self.isJSON = isJSON
    task = try Self.task(arguments.count > 1 ? arguments[1] : "list", Array(arguments.dropFirst(2)))
    guard !isJSON || task.hasJSON else { throw UsageError("--json is only for list, why and diff") }
  }

  private static func task(_ verb: String, _ rest: [String]) throws(UsageError) -> Task {
    switch (verb, rest.count) {
    case ("list", 0): return .list
    case ("har", 0): return .har
    case ("page", 0): return .page
    case ("why", 1): return .why(rest[0])
    case ("curl", 1): return .curl(rest[0])
    case ("diff", 1): return .compare(rest[0])
    case ("diff", 2): return .diff(rest[0], rest[1])
    case ("list", _), ("har", _), ("page", _):
      throw UsageError("“\(rest[0])” is one argument too many; “\(verb)” needs none")
    case ("why", _), ("curl", _): throw UsageError("“\(verb)” needs the number of one call; “list” prints the numbers")
    case ("diff", _): throw UsageError("“diff” needs the numbers of two calls, or another file")
    default: throw UsageError("unknown task “\(verb)”; use \(tasks)")
    }
  }
}

extension RecordOptions.Task {
  fileprivate var hasJSON: Bool {
    switch self {
    case .list, .why, .diff, .compare: true
    case .curl, .har, .page: false
    }
  }
}

extension HelpText {
  static let record = #"""
    usage: errand record FILE [list] [--json]
           errand record FILE why  CALL  [--json]
           errand record FILE diff CALL CALL [--json]
           errand record FILE diff OTHER-FILE [--json]
           errand record FILE curl CALL
           errand record FILE har
           errand record FILE page

    Shows recorded calls. FILE is the file of a FlightFile, also while the program writes it, or an HTTP
    archive (HAR 1.2) of Errand, a browser or a proxy. CALL is the id that “list” prints. Credentials,
    cookies and values whose names suggest a secret are masked, whatever the file contains.

      list                one line for each call
      why                 the decisions of a call with their times, and its exchanges
      diff                what differs between two calls; or, between two files, which calls differ in
                          status, outcome, header fields, decisions, and by a multiple in time
      curl                the last request of a call as a curl command
      har                 the record as an HTTP archive for the network panel of a browser
      page                the record as one web page, which needs no network
      --json              print JSON instead of text

    examples
      errand record calls.flight
      errand record calls.flight why 7
      errand record yesterday.har diff today.har
      errand record calls.flight har > calls.har
      errand record calls.flight page > calls.html

    exit status
      0  success; for diff, also if there are          65  the file is damaged or has another format
         differences                                   66  no call has the id
      1  any other failure                             72  the file is missing or cannot be read
     64  wrong arguments

    """#

  static let mcp = #"""
    usage: errand mcp [FILE]

    Serves recorded calls to agents: a server of the Model Context Protocol (revisions 2025-06-18 and
    2025-11-25) on standard input and output. Its tools are list, why, diff and curl, as in “errand
    record”. They only read. With FILE they read this flight file or HTTP archive and no other file;
    without, each call of a tool names its file. Credentials, cookies and values whose names suggest a
    secret are masked, whatever the file contains.

    The server ends when its standard input ends.

    example of a client's configuration
      {"mcpServers": {"errand": {"command": "errand", "args": ["mcp", "/tmp/calls.flight"]}}}

    exit status
      0  the input has ended                           64  wrong arguments
      1  the input could not be read, or the
         output could not be written

    """#
}
