import Errand
import ErrandJSON
import Foundation

/// Parses the arguments of `errand send`.
struct SendParser {
  private var words: ArraySlice<String>
  private var options = SendOptions()
  private var arguments: [String] = []
  /// The last parsed option that may only be used with `--cache`; nil if there was none.
  private var cacheWord: String?

  /// Parses all arguments.
  static func parse(_ words: [String]) throws(UsageError) -> SendOptions {
    var parser = SendParser(words: words[...])
    return try parser.readAll()
  }

  private init(words: ArraySlice<String>) { self.words = words }

  private mutating func readAll() throws(UsageError) -> SendOptions {
    while let word = words.popFirst() {
      if word == "--" {
        arguments += words
        break
      }
      if word.hasPrefix("-"), word.count > 1 { try option(word) } else { arguments.append(word) }
    }
    try assignArguments()
    if options.cacheFolder == nil, let name = cacheWord {
      throw UsageError("\(name) needs a cache; name its folder with --cache DIR")
    }
    return options
  }

  // MARK: - Options

  private mutating func option(_ word: String) throws(UsageError) {
    let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    let isLong = word.hasPrefix("--")
    let name = isLong ? parts[0] : String(word.prefix(2))
    let attached = isLong ? (parts.count > 1 ? parts[1] : nil) : (word.count > 2 ? String(word.dropFirst(2)) : nil)
    if try flag(name) {
      guard attached == nil else { throw UsageError("\(name) takes no value") }
      return
    }
    guard Self.valued.contains(name) else {
      throw UsageError("unknown option “\(name)”; put arguments that start with - after --")
    }
    guard let value = attached ?? words.popFirst() else { throw UsageError("\(name) needs a value") }
    try take(value, of: name)
  }

  private static let valued: Set<String> = [
    "-H", "--header", "--shape", "--timeout", "--user", "--bearer", "-o", "--output", "--cache", "--lifetime", "--mode",
    "--tag",
  ]

  /// Handles an option without a value. Returns false if `name` is not the name of such an option.
  private mutating func flag(_ name: String) throws(UsageError) -> Bool {
    switch name {
    case "--json": try format(.json, name)
    case "--form": try format(.form, name)
    case "--query": try format(.query, name)
    case "-v", "--verbose": options.isVerbose = true
    case "--no-follow": options.followsRedirects = false
    case "--no-proxy": options.usesProxy = false
    default: return false
    }
    return true
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
    default: options.output = value
    }
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

  private mutating func assignArguments() throws(UsageError) {
    var arguments = self.arguments[...]
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
