import Foundation

extension JSONPath {
  /// Reads a path like `data.items[0].name`; the empty text and `$` are the root.
  /// - Throws: ``JSONError/malformedPath(_:)``.
  public init(parsing text: String) throws(JSONError) {
    var reader = JSONPathReader(text)
    guard let steps = reader.readAll() else { throw JSONError.malformedPath(text) }
    self.init(steps)
  }
}

extension JSONPath: ExpressibleByStringLiteral {
  /// Reads a path from a literal. One that cannot be read is taken as a single key, which then shows in messages.
  public init(stringLiteral text: String) {
    var reader = JSONPathReader(text)
    self.init(reader.readAll() ?? [.key(text)])
  }
}

/// Reads the steps of a path from its text, by Unicode scalars: a sign of the path counts whatever mark stands beside it.
private struct JSONPathReader {
  private var rest: Substring.UnicodeScalarView

  init(_ text: String) {
    rest = text.unicodeScalars[...]
    let afterRoot = rest.dropFirst()
    if rest.first == "$", afterRoot.isEmpty || afterRoot.first == "." || afterRoot.first == "[" {
      rest = afterRoot
    } else if let first = rest.first, first != "[", first != "." {
      rest = ("." + text).unicodeScalars[...]
    }
  }

  /// All steps; nil if the text is no path.
  mutating func readAll() -> [JSONPath.Step]? {
    var steps: [JSONPath.Step] = []
    while let sign = rest.popFirst() {
      guard let step = sign == "." ? readName() : sign == "[" ? readBracket() : nil else { return nil }
      steps.append(step)
    }
    return steps
  }

  private mutating func readName() -> JSONPath.Step? {
    let name = rest.prefix { $0 != "." && $0 != "[" && $0 != "]" }
    rest = rest[name.endIndex...]
    return name.isEmpty ? nil : .key(String(name))
  }

  private mutating func readBracket() -> JSONPath.Step? {
    if rest.first == "\"" { return readQuoted() }
    let digits = rest.prefix { "0"..."9" ~= $0 }
    rest = rest[digits.endIndex...]
    guard let index = Int(Substring(digits)), rest.popFirst() == "]" else { return nil }
    return .index(index)
  }

  private mutating func readQuoted() -> JSONPath.Step? {
    var escaped = false
    let inner = rest.dropFirst().prefix { sign in
      defer { escaped = !escaped && sign == "\\" }
      return escaped || sign != "\""
    }
    let quoted = "\"" + Substring(inner) + "\""
    rest = rest[inner.endIndex...].dropFirst()
    guard rest.popFirst() == "]", let key = (try? JSONValue(parsing: Data(quoted.utf8)))?.stringValue else {
      return nil
    }
    return .key(key)
  }
}
