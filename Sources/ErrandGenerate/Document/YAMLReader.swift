/// Reads the subset of YAML 1.2 that OpenAPI documents use as a ``DocumentNode``: block and flow collections, plain,
/// quoted, literal and folded scalars, comments, anchors and aliases. Scalars have the types of the core schema (YAML
/// 1.2.2 section 10.3). Tags, directives, merge keys, complex keys and several documents are errors with their place.
package struct YAMLReader {
  /// The largest number of values that all aliases together may stand for.
  static let aliasLimit = 1_000_000

  var scanner: YAMLScanner
  private var anchors: [String: (node: DocumentNode, weight: Int)] = [:]
  private var made = 0
  private var repeated = 0

  package static func read(_ bytes: [UInt8]) throws(DocumentError) -> DocumentNode {
    guard String(validating: bytes, as: UTF8.self) != nil else {
      throw DocumentError(reason: "the text is not valid UTF-8", line: 1, column: 1)
    }
    var reader = YAMLReader(scanner: YAMLScanner(bytes))
    try reader.scanner.skipBlank()
    if reader.scanner.next == UInt8(ascii: "%") { throw reader.scanner.error("directives are not supported") }
    if reader.scanner.startsMarker("---") {
      reader.scanner.advance(3)
      try reader.scanner.skipBlank()
    }
    let node = try reader.block(parent: -1, depth: 0)
    try reader.scanner.skipBlank()
    if reader.scanner.startsMarker("...") {
      reader.scanner.advance(3)
      try reader.scanner.skipBlank()
    }
    guard reader.scanner.isAtEnd else {
      let isNext = reader.scanner.startsMarker("---")
      throw reader.scanner.error(isNext ? "the text has a second document" : "the indentation fits no value above")
    }
    return node
  }

  private init(scanner: YAMLScanner) { self.scanner = scanner }

  private mutating func node(_ content: DocumentNode.Content, _ place: (line: Int, column: Int)) -> DocumentNode {
    made += 1
    return DocumentNode(content: content, line: place.line, column: place.column)
  }

  // MARK: - Block style

  /// Reads the value that begins here. Its lines are indented by more than `parent` columns.
  private mutating func block(parent: Int, depth: Int) throws(DocumentError) -> DocumentNode {
    guard depth <= JSONReader.depthLimit else { throw scanner.error("the value is nested too deeply") }
    let place = scanner.place
    guard !scanner.isAtEnd else { return node(.null, place) }
    let column = scanner.column
    if scanner.next == UInt8(ascii: "-"), scanner.isSpace(after: 1) { return try sequence(column, place, depth) }
    if scanner.next == UInt8(ascii: "?"), scanner.isSpace(after: 1) {
      throw scanner.error("keys of several lines are not supported")
    }
    if try scanner.startsKey() { return try mapping(column, place, depth) }
    return try inline(parent: parent, depth: depth)
  }

  private mutating func sequence(
    _ column: Int, _ place: (line: Int, column: Int), _ depth: Int
  ) throws(DocumentError) -> DocumentNode {
    var elements: [DocumentNode] = []
    while !scanner.isAtEnd, scanner.column == column, scanner.next == UInt8(ascii: "-"), scanner.isSpace(after: 1) {
      scanner.advance(1)
      elements.append(try value(column: column, allowsSequence: false, depth: depth))
      try scanner.skipBlank()
    }
    if !scanner.isAtEnd, scanner.column > column { throw scanner.error("the indentation fits no value above") }
    return node(.array(elements), place)
  }

  private mutating func mapping(
    _ column: Int, _ place: (line: Int, column: Int), _ depth: Int
  ) throws(DocumentError) -> DocumentNode {
    var entries: [(key: String, value: DocumentNode)] = []
    var names: Set<[UInt8]> = []
    while !scanner.isAtEnd, scanner.column == column, !scanner.startsMarker("..."), !scanner.startsMarker("---") {
      guard try scanner.startsKey() else { throw scanner.error("a key with a colon is missing") }
      let keyPlace = scanner.place
      let key = try scanner.key()
      if key == "<<" {
        throw DocumentError(reason: "merge keys are not supported", line: keyPlace.line, column: keyPlace.column)
      }
      guard names.insert(Array(key.utf8)).inserted else {
        throw DocumentError(
          reason: "the key “\(key)” occurs twice in one mapping", line: keyPlace.line, column: keyPlace.column)
      }
      entries.append((key, try value(column: column, allowsSequence: true, depth: depth)))
      try scanner.skipBlank()
    }
    if !scanner.isAtEnd, scanner.column > column { throw scanner.error("the indentation fits no value above") }
    return node(.object(DocumentMembers(entries)), place)
  }

  /// Reads the value after a key or a dash, on the same line or below.
  private mutating func value(
    column: Int, allowsSequence: Bool, depth: Int
  ) throws(DocumentError) -> DocumentNode {
    let line = scanner.line
    let place = scanner.place
    scanner.skipSpaces()
    let anchor = try scanner.anchor()
    let before = made + repeated
    try scanner.skipBlank()
    var result: DocumentNode
    if scanner.isAtEnd {
      result = node(.null, place)
    } else if scanner.line == line {
      // After a dash, the first key of a mapping may be on the same line.
      let isCompact = !allowsSequence && anchor == nil
      result = isCompact ? try block(parent: column, depth: depth + 1) : try inline(parent: column, depth: depth + 1)
    } else if scanner.column > column {
      result = try block(parent: column, depth: depth + 1)
    } else if allowsSequence, scanner.column == column, scanner.next == UInt8(ascii: "-"), scanner.isSpace(after: 1) {
      result = try block(parent: column - 1, depth: depth + 1)
    } else {
      result = node(.null, place)
    }
    if let anchor { anchors[anchor] = (result, made + repeated - before) }
    return result
  }

  // MARK: - Values on one line, and flow style

  private mutating func inline(parent: Int, depth: Int) throws(DocumentError) -> DocumentNode {
    let place = scanner.place
    switch scanner.next {
    case UInt8(ascii: "*"): return try alias()
    case UInt8(ascii: "!"): throw scanner.error("tags are not supported")
    case UInt8(ascii: "|"), UInt8(ascii: ">"): return node(.string(try scanner.blockScalar(parent: parent)), place)
    case UInt8(ascii: "{"), UInt8(ascii: "["):
      let value = try flow(depth: depth)
      try endLine()
      return value
    case UInt8(ascii: "\""), UInt8(ascii: "'"):
      let text = try scanner.quoted()
      try endLine()
      return node(.string(text), place)
    case UInt8(ascii: "&"): throw scanner.error("this place of an anchor is not supported")
    case UInt8(ascii: "@"), UInt8(ascii: "`"), UInt8(ascii: "%"):
      throw scanner.error("a plain value cannot begin with this character; put it in quotes")
    default: return node(CoreSchema.content(try scanner.plain(parent: parent)), place)
    }
  }

  private mutating func endLine() throws(DocumentError) {
    scanner.skipSpaces()
    guard scanner.isAtLineEnd else { throw scanner.error("text follows the value on its line") }
  }

  private mutating func alias() throws(DocumentError) -> DocumentNode {
    let place = scanner.error("the alias names no anchor above it")
    scanner.advance(1)
    guard let (node, weight) = anchors[scanner.name()] else { throw place }
    repeated += weight
    guard repeated <= Self.aliasLimit else { throw scanner.error("the aliases stand for too many values") }
    return node
  }

  private mutating func flow(depth: Int) throws(DocumentError) -> DocumentNode {
    guard depth <= JSONReader.depthLimit else { throw scanner.error("the value is nested too deeply") }
    let place = scanner.place
    switch scanner.next {
    case UInt8(ascii: "["): return node(.array(try flowElements(depth: depth)), place)
    case UInt8(ascii: "{"): return node(.object(try flowMembers(depth: depth)), place)
    case UInt8(ascii: "\""), UInt8(ascii: "'"): return node(.string(try scanner.quoted()), place)
    case UInt8(ascii: "*"): return try alias()
    case UInt8(ascii: "&"), UInt8(ascii: "!"): throw scanner.error("anchors and tags in brackets are not supported")
    default:
      let text = scanner.flowPlain()
      guard !text.isEmpty else { throw scanner.error("a value is missing") }
      return node(CoreSchema.content(text), place)
    }
  }

  private mutating func flowElements(depth: Int) throws(DocumentError) -> [DocumentNode] {
    var elements: [DocumentNode] = []
    try openFlow()
    while scanner.next != UInt8(ascii: "]") {
      elements.append(try flow(depth: depth + 1))
      try separate(before: UInt8(ascii: "]"))
    }
    scanner.advance(1)
    return elements
  }

  private mutating func flowMembers(depth: Int) throws(DocumentError) -> DocumentMembers {
    var entries: [(key: String, value: DocumentNode)] = []
    var names: Set<[UInt8]> = []
    try openFlow()
    while scanner.next != UInt8(ascii: "}") {
      let key = try scanner.flowKey()
      guard names.insert(Array(key.utf8)).inserted else {
        throw scanner.error("the key “\(key)” occurs twice in one mapping")
      }
      try scanner.skipFlowSpace()
      var value = node(.null, scanner.place)
      if scanner.next == UInt8(ascii: ":") {
        scanner.advance(1)
        try scanner.skipFlowSpace()
        if scanner.next != UInt8(ascii: ","), scanner.next != UInt8(ascii: "}") { value = try flow(depth: depth + 1) }
      }
      entries.append((key, value))
      try separate(before: UInt8(ascii: "}"))
    }
    scanner.advance(1)
    return DocumentMembers(entries)
  }

  private mutating func openFlow() throws(DocumentError) {
    scanner.advance(1)
    try scanner.skipFlowSpace()
  }

  private mutating func separate(before end: UInt8) throws(DocumentError) {
    try scanner.skipFlowSpace()
    if scanner.next == UInt8(ascii: ",") {
      scanner.advance(1)
      return try scanner.skipFlowSpace()
    }
    guard scanner.next == end, !scanner.isAtEnd else { throw scanner.error("a comma or a closing bracket is missing") }
  }
}

/// The types of plain scalars in the core schema of YAML 1.2.
enum CoreSchema {
  static func content(_ text: String) -> DocumentNode.Content {
    switch text {
    case "", "~", "null", "Null", "NULL": return .null
    case "true", "True", "TRUE": return .bool(true)
    case "false", "False", "FALSE": return .bool(false)
    default: break
    }
    if ScalarRules.isJSONNumber(text) { return .number(text) }
    guard text.utf8.allSatisfy(ScalarRules.isNumberByte), text.utf8.contains(where: ScalarRules.isDigit)
    else { return .string(text) }
    let unsigned = text.first == "+" ? String(text.dropFirst()) : text
    if ScalarRules.isJSONNumber(unsigned) { return .number(unsigned) }
    if let whole = Int(text) { return .number("\(whole)") }
    return .string(text)
  }
}
