import Errand
import ErrandRecord

enum MCPTool: String, CaseIterable {
  case list, why, diff, curl

  /// The number of calls that `list` shows if the client does not limit it.
  static let usualCount = 50

  func run(_ arguments: MCPArguments) throws -> String {
    let file = try RecordFile(try arguments.file())
    switch self {
    case .list: return try Self.list(file, arguments)
    case .why: return RecordReport.why(try file.call(try arguments.id("call"))).text
    case .curl: return try file.curl(try arguments.id("call")) + "\n"
    case .diff:
      if let other = try arguments.otherFile() {
        return RecordReport.compare(file.archive.masked, try RecordFile(other).archive.masked).text
      }
      return RecordReport.diff(try file.call(try arguments.id("a")), try file.call(try arguments.id("b"))).text
    }
  }

  private static func list(_ file: RecordFile, _ arguments: MCPArguments) throws -> String {
    let text = try arguments.optionalText("contains") ?? ""
    let isFailed = try arguments.flag("failed")
    var found = file.calls.filter { !isFailed || $0.failure != nil || ($0.status ?? 0) >= 400 }
    // The filter sees masked calls, so it tells nothing about secrets.
    if !text.isEmpty { found = found.map(\.masked).filter { "\($0.method) \($0.url)".contains(text) } }
    let shown = found.suffix(try arguments.count("limit") ?? usualCount).map(\.masked)
    let rest = found.count - shown.count
    if found.isEmpty, !file.calls.isEmpty { return "None of the \(file.calls.count) calls matches.\n" }
    return RecordReport.list(shown, of: file).text + (rest > 0 ? "\(rest) earlier calls are not shown\n" : "")
  }

  // MARK: - Description

  /// The description of the tool for agents. If `namesFile` is true, a call of the tool names the file.
  func json(namesFile: Bool) -> JSONValue {
    var properties = properties
    var required = required
    if namesFile {
      properties["file"] = Self.property("string", "The path of a flight file or an HTTP archive (HAR).")
      required.insert("file", at: 0)
      if self == .diff {
        properties["other"] = Self.property("string", "Another file, to compare all calls of both files.")
      }
    }
    return .object([
      "name": .string(rawValue), "description": .string(summary(namesFile: namesFile)),
      "inputSchema": .object([
        "type": "object", "properties": .object(properties), "required": .array(required.map { .string($0) }),
        "additionalProperties": false,
      ]),
      "annotations": .object(["readOnlyHint": true, "openWorldHint": false]),
    ])
  }

  private func summary(namesFile: Bool) -> String {
    switch self {
    case .list: "Lists the recorded HTTP calls: id, start, status, time, number of requests, URL and outcome."
    case .why: "Explains a call: the client's decisions (cache, retries, queue, credentials …) and its exchanges."
    case .diff:
      "Compares two calls a and b\(namesFile ? ", or all calls of two files," : "") by status, header fields, "
        + "decisions and time."
    case .curl: "Gives the last request of a call as a curl command with masked secrets."
    }
  }

  private var properties: [String: JSONValue] {
    switch self {
    case .list:
      [
        "limit": Self.property("integer", "Show at most this many of the last calls; by default \(Self.usualCount)."),
        "failed": Self.property("boolean", "Show only calls that failed or have a status from 400."),
        "contains": Self.property("string", "Show only calls whose method and URL contain this text."),
      ]
    case .why, .curl: ["call": Self.property("string", "The id of the call from list, or last.")]
    case .diff:
      [
        "a": Self.property("string", "The id of the first call."),
        "b": Self.property("string", "The id of the second call."),
      ]
    }
  }

  private var required: [String] {
    switch self {
    case .list, .diff: []
    case .why, .curl: ["call"]
    }
  }

  private static func property(_ type: String, _ description: String) -> JSONValue {
    .object(["type": .string(type), "description": .string(description)])
  }
}

struct MCPArguments {
  struct Mistake: Error, CustomStringConvertible {
    let description: String
  }

  let value: JSONValue
  /// The only file that may be read; nil if the arguments name the file.
  let onlyFile: String?

  func file() throws(Mistake) -> String {
    if let onlyFile { return onlyFile }
    return try text("file", or: "The argument \"file\" is missing: the path of a flight file or an HTTP archive.")
  }

  /// The other file of a comparison; nil if two calls are compared.
  func otherFile() throws(Mistake) -> String? {
    guard let other = try optionalText("other") else { return nil }
    if onlyFile == nil { return other }
    throw Mistake(description: "This server reads only one file. Start “errand mcp” without a file to compare two.")
  }

  /// The id of a call. Agents often write a number instead of a string.
  func id(_ key: String) throws(Mistake) -> String {
    if let number = value[key]?.intValue { return "\(number)" }
    return try text(key, or: "The argument \"\(key)\" is missing: the id of a call, which the tool list shows.")
  }

  func optionalText(_ key: String) throws(Mistake) -> String? { try argument(key, "no string") { $0.stringValue } }

  func flag(_ key: String) throws(Mistake) -> Bool { try argument(key, "not true or false") { $0.boolValue } ?? false }

  func count(_ key: String) throws(Mistake) -> Int? {
    try argument(key, "no positive integer") { value in value.intValue.flatMap { $0 > 0 ? $0 : nil } }
  }

  /// The value of an argument; nil if the argument is missing or null.
  private func argument<Value>(
    _ key: String, _ mistake: String, _ read: (JSONValue) -> Value?
  ) throws(Mistake) -> Value? {
    guard let found = value[key], !found.isNull else { return nil }
    guard let result = read(found) else { throw Mistake(description: "The argument \"\(key)\" is \(mistake).") }
    return result
  }

  private func text(_ key: String, or missing: String) throws(Mistake) -> String {
    guard let text = try optionalText(key), !text.isEmpty else { throw Mistake(description: missing) }
    return text
  }
}
