import Errand
import ErrandCore
import ErrandJSON
import Foundation

struct SendParser {
  private static let flags: Set<String> = [
    "--json", "--form", "--query", "-v", "--verbose", "--no-follow", "--no-proxy",
  ]
  private static let valued: Set<String> = [
    "-H", "--header", "--shape", "--timeout", "--user", "--bearer", "-o", "--output", "--cache", "--lifetime", "--mode",
    "--tag",
  ]

  private var options = SendOptions()
  /// The last parsed option that may only be used with `--cache`; nil if there was none.
  private var cacheWord: String?

  static func parse(_ words: [String]) throws(UsageError) -> SendOptions {
    var parser = SendParser()
    var reader = WordReader(words, flags: flags, valued: valued)
    var arguments: [String] = []
    while let item = try reader.next() {
      switch item {
      case .flag(let name): try parser.take(name)
      case .option(let name, let value): try parser.take(value, of: name)
      case .argument(let argument): arguments.append(argument)
      }
    }
    try parser.assign(arguments)
    if parser.options.cacheFolder == nil, let name = parser.cacheWord {
      throw UsageError("\(name) needs a cache; name its folder with --cache DIR")
    }
    return parser.options
  }

  // MARK: - Options

  private mutating func take(_ name: String) throws(UsageError) {
    switch name {
    case "--json": try format(.json, name)
    case "--form": try format(.form, name)
    case "--query": try format(.query, name)
    case "-v", "--verbose": options.isVerbose = true
    case "--no-follow": options.followsRedirects = false
    default: options.usesProxy = false
    }
  }

  private mutating func format(_ format: ArgumentFormat, _ name: String) throws(UsageError) {
    guard options.format == nil || options.format == format else {
      throw UsageError("\(name) contradicts an earlier option; use only one of --json, --form and --query")
    }
    options.format = format
  }

  private mutating func take(_ value: String, of name: String) throws(UsageError) {
    switch name {
    case "-H", "--header": options.fields.append(try RequestNotation.field(value))
    case "--shape": options.shape = try Self.shape(value)
    case "--timeout": options.timeout = try RequestNotation.timeout(value)
    case "--user": try options.credential.take(try RequestNotation.basic(value))
    case "--bearer": try options.credential.take(try RequestNotation.bearer(value))
    case "--cache":
      guard !value.isEmpty else { throw UsageError("--cache needs a folder") }
      options.cacheFolder = value
    case "--lifetime", "--mode", "--tag": try cache(value, of: name)
    default: options.output = try Self.output(value, name)
    }
  }

  /// The file to write to; nil for standard output, which `-` and `/dev/stdout` mean. If a shell redirects standard
  /// output to a file, the body must not replace this file, because others may write to it, too.
  private static func output(_ value: String, _ name: String) throws(UsageError) -> String? {
    guard !value.isEmpty else { throw UsageError("\(name) needs the path of a file, or - for standard output") }
    return ["-", "/dev/stdout"].contains(value) ? nil : value
  }

  private mutating func cache(_ value: String, of name: String) throws(UsageError) {
    cacheWord = name
    switch name {
    case "--lifetime": options.lifetime = try SpanNotation.span(value, of: name)
    case "--mode": options.cacheMode = try SendCache.mode(value)
    default: options.tag = value
    }
  }

  private static func shape(_ text: String) throws(UsageError) -> JSONShape {
    do {
      return try ShapeNotation.shape(of: text)
    } catch {
      throw UsageError("--shape: \(error)")
    }
  }

  // MARK: - Method, URL and items

  private mutating func assign(_ arguments: [String]) throws(UsageError) {
    var arguments = arguments[...]
    if let first = arguments.first, let method = Self.method(first) {
      options.method = method
      arguments.removeFirst()
    }
    guard let url = arguments.popFirst() else { throw UsageError("a URL is missing") }
    options.url = try RequestNotation.url(url)
    for argument in arguments { options.items.append(try RequestNotation.item(argument)) }
    try checkNames()
  }

  /// Rejects a JSON object with a name that is given twice. A query or a form may contain a name twice.
  private func checkNames() throws(UsageError) {
    var names: Set<String> = []
    guard options.format == .json, let twice = options.items.first(where: { !names.insert($0.name).inserted }) else {
      return
    }
    throw UsageError("“\(twice.name)” is given twice; for a list write \(twice.name):='[…]'")
  }

  /// The method that a word names; nil if the word is not a method. Each word in capital letters is a method. In lower
  /// case, only the well-known methods are recognised.
  private static func method(_ word: String) -> String? {
    let isCapital = !word.isEmpty && word.utf8.allSatisfy { (0x41...0x5A).contains($0) || $0 == 0x2D }
    if isCapital { return word }
    let known = ["get", "post", "put", "patch", "delete", "head", "options"]
    return known.contains(word) ? word.uppercased() : nil
  }
}

struct SendOptions: Sendable, Equatable {
  /// One argument of the form `name=value` or `name:=json`.
  struct Item: Sendable, Equatable {
    let name: String
    let value: JSONValue
  }

  /// One `-H` option: a field and its value. The value is nil if the field must not be sent.
  struct Field: Sendable, Equatable {
    let name: String
    let value: String?
  }

  var method: String?
  var url = ""
  var items: [Item] = []
  var fields: [Field] = []
  var format: ArgumentFormat?
  var shape: JSONShape?
  var timeout: Duration?
  var credential: RequestCredential = .none
  /// The file to write to; nil for standard output.
  var output: String?
  /// The folder of the cache; nil to use no cache.
  var cacheFolder: String?
  var cacheMode = CacheReadMode.asDeclared
  /// The lifetime of the stored response; nil to follow the caching rules of HTTP.
  var lifetime: Duration?
  /// The tag of the stored response, by which the response can be removed later; nil for no tag.
  var tag: String?
  var isVerbose = false
  var followsRedirects = true
  var usesProxy = true

  /// The method to send: by default POST if the request has a body, otherwise GET.
  var sentMethod: HTTPMethod {
    if let method { return HTTPMethod(method) }
    return !items.isEmpty && (format == .json || format == .form) ? .post : .get
  }
}

extension HelpText {
  static let send = #"""
    usage: errand send [METHOD] URL [name=value …] [option …]

    Sends one request and prints the response body: indented and coloured on a terminal, byte for byte
    in a pipe. A failure is reported by a message on standard error and by the exit status.

      METHOD              by default GET; POST if --json or --form make a body
      URL                 the default scheme is https://, for this machine http://;
                          :8080/x is short for http://localhost:8080/x
      name=value          an argument with a text value; every character is preserved
      name:=json          an argument with a JSON value: count:=3  tags:='["a","b"]'  on:=true

    where the arguments go (by default: the query for GET, HEAD and DELETE, otherwise a form)
      --json              into a JSON body
      --form              into a form body
      --query             into the query

    what is sent with it
      -H 'Name: value'    a header field; may be repeated; 'Name:' omits a field
      --user NAME:PASS    basic credentials
      --bearer TOKEN      a bearer token
                          For both, @FILE reads the first line of a file, because other users of this
                          machine can see the arguments of a command

    what is expected
      --shape SHAPE       the shape that the JSON must have, see below
      --timeout SECONDS   the limit for the whole call, including redirects, such as 0.3; by default
                          120 s, or none for a body that goes to a file or a pipe. Connecting is always
                          limited to 10 s, and idle time to 60 s
      --no-follow         show a redirect instead of following it

    what is cached (see also “errand cache --help”)
      --cache DIR         store responses in a folder, created if it is missing, and serve them from
                          there by the rules of HTTP: up to 100 MiB, 5 MiB for a response. Bodies are
                          then held in memory, at most 32 MiB, and the time-out is 120 s. If the disk
                          is full or read-only, the request is sent without the cache
      --lifetime TIME     keep responses for this time, whatever server and method say: 30s 10m 2h 7d
      --tag WORD          a tag for the response, by which it can be removed
      --mode WORD         how this call uses the cache:
            declared        serve a fresh response, otherwise ask the server; the default
            revalidate      ask the server whether the stored response is still valid
            ignore          read nothing from the cache, but store the response
            without         neither read from the cache nor store the response
            cached          serve a stored response of any age, otherwise ask the server
            offline         ask the server, and serve a stored response if it cannot be reached
            only            serve a stored response while it is fresh, and never ask the server
            stored          serve a stored response of any age, and never ask the server

    and more
      -o FILE             write the body to a file, which appears only when it is complete; “-” means
                          standard output
      -v                  print to standard error what is sent and received, the origin of the response
                          and the reason, and how long it took; with masked secrets
      --no-proxy          use no proxy, and ignore http_proxy, https_proxy, all_proxy and no_proxy
      --                  everything after it is an argument, not an option

    a shape looks like the response, with types in place of values
      string  number  integer  bool  null  any  array  object
      string|null         either; =a|=b are the texts a and b, 1|2 the numbers
      integer?            the key may be missing
      ["string"]          a list of texts, [] of anything
      {"home|null?": {…}} |null and ? at the end of the key, for values that are objects or lists

    examples
      errand send https://api.example.com/users/7
      errand send --json https://api.example.com/users name=Ada age:=36 tags:='["maths"]'
      errand send PATCH :8080/users/7 --json nick=ada --bearer "$TOKEN" -v
      errand send https://api.example.com/users --shape '{"items": [{"nick": "string"}]}'
      errand send https://cdn.example.com/film.mp4 -o film.mp4
      errand send https://api.example.com/users q=ada --timeout 2 | jq .items

    exit status
      0  the response is as expected                    64  wrong arguments, or an invalid request
      1  any other failure                              65  the body is not JSON, or has another shape
      6  the host name could not be resolved            66  --mode only, and nothing is stored
      7  the server is unreachable                      72  the folder of --cache cannot hold a store
     22  the status is not 2xx; the body is printed     77  access to the folder of --cache is denied
     28  time-out                                      130  interrupted
     60  TLS failed, or the server is not trusted

    Other users of the machine can see the arguments of a command, including secrets.

    """#
}
