import Errand
import ErrandJSON
import Foundation

/// Parses the arguments of `errand send`.
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

  /// Parses all arguments.
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

/// The parsed arguments of `errand send`.
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
