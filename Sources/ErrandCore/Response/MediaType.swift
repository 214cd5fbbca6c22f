/// A media type as it stands in `Content-Type` (RFC 9110 section 8.3).
public struct MediaType: Sendable, Hashable {
  /// Type and subtype in lower case, such as `application/json`.
  public let essence: String
  /// The parameters in order, names in lower case, values unquoted.
  public let parameters: [(name: String, value: String)]

  /// Reads a field's value; nil where it is no media type.
  public init?(_ text: String) {
    let parts = Self.split(text)
    let essence = parts.first.map { Self.trimmed($0).lowercased() } ?? ""
    let halves = essence.split(separator: "/", omittingEmptySubsequences: false)
    guard halves.count == 2, halves.allSatisfy({ ASCII.isToken(String($0)) }) else { return nil }
    self.essence = essence
    parameters = parts.dropFirst().compactMap(Self.parameter)
  }

  /// The value of a parameter.
  public subscript(parameter: String) -> String? { parameters.first { $0.name == parameter }?.value }

  /// Whether this is JSON: `application/json`, `text/json` or a type that ends in `+json` (RFC 6839).
  public var isJSON: Bool { essence == "application/json" || essence == "text/json" || essence.hasSuffix("+json") }

  /// Whether a pattern such as `text/*` or `application/json` fits.
  public func matches(_ pattern: String) -> Bool {
    let pattern = pattern.lowercased()
    if pattern == "*/*" || pattern == essence { return true }
    return pattern.hasSuffix("/*") && essence.hasPrefix(pattern.dropLast())
  }

  /// Compares essence and parameters.
  public static func == (left: MediaType, right: MediaType) -> Bool {
    left.essence == right.essence && left.parameters.elementsEqual(right.parameters, by: ==)
  }

  /// Hashes the essence.
  public func hash(into hasher: inout Hasher) { hasher.combine(essence) }

  private static func split(_ text: String) -> [Substring] {
    var parts: [Substring] = []
    var start = text.startIndex
    var isQuoted = false
    var isEscaped = false
    for index in text.indices {
      let character = text[index]
      if isEscaped {
        isEscaped = false
      } else if isQuoted, character == "\\" {
        isEscaped = true
      } else if character == "\"" {
        isQuoted.toggle()
      } else if character == ";", !isQuoted {
        parts.append(text[start..<index])
        start = text.index(after: index)
      }
    }
    return parts + [text[start...]]
  }

  private static func parameter(_ text: Substring) -> (name: String, value: String)? {
    guard let equals = text.firstIndex(of: "=") else { return nil }
    let name = trimmed(text[..<equals]).lowercased()
    var value = trimmed(text[text.index(after: equals)...])
    if value.count >= 2, value.hasPrefix("\""), value.hasSuffix("\"") {
      value = unescaped(value.dropFirst().dropLast())
    }
    return (name, value)
  }

  private static func unescaped(_ text: Substring) -> String {
    var out = ""
    var isEscaped = false
    for character in text {
      if !isEscaped, character == "\\" {
        isEscaped = true
      } else {
        out.append(character)
        isEscaped = false
      }
    }
    return out
  }

  private static func trimmed(_ text: Substring) -> String {
    let isSpace: (Character) -> Bool = { $0 == " " || $0 == "\t" }
    var text = text
    while let first = text.first, isSpace(first) { text.removeFirst() }
    while let last = text.last, isSpace(last) { text.removeLast() }
    return String(text)
  }
}
