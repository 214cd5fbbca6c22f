/// Writes JSON values as UTF-8 text: a complete text, or an excerpt with secrets masked.
struct JSONWriter {
  private(set) var bytes: [UInt8] = []
  private let pretty: Bool
  private let strict: Bool
  private let masking: Bool
  private let limit: Int
  private let depth: Int
  private var steps: [JSONPath.Step] = []

  /// If `strict` is false, a number that is not finite is written as null, and a number that is too large for a
  /// `Double` keeps its original text.
  /// - Parameters:
  ///   - pretty: Whether to write line breaks and indentation.
  ///   - strict: Whether a number that is not finite is an error.
  ///   - masking: Whether long strings and the values of secret keys are replaced by `"…"`.
  ///   - limit: The number of bytes after which the rest may be omitted.
  ///   - depth: The number of arrays and objects that will enclose the text.
  init(pretty: Bool = false, strict: Bool = true, masking: Bool = false, limit: Int = .max, below depth: Int = 0) {
    self.pretty = pretty
    self.strict = strict
    self.masking = masking
    self.limit = limit
    self.depth = depth
  }

  /// Appends one value.
  mutating func write(_ value: JSONValue) throws(JSONError) {
    guard bytes.count < limit else { return }
    // Only error messages mask values. They show a number as the server wrote it, for example 1.50.
    if masking, let number = value.writtenNumber { return append(number) }
    switch value.content {
    case .null: append("null")
    case .bool(let bool): append(bool ? "true" : "false")
    case .integer(let integer): append(String(integer))
    case .unsigned(let integer): append(String(integer))
    case .number(let number): try write(number, of: value)
    case .string(let string): write(masking && JSONMask.isLong(string) ? JSONMask.mark : string)
    case .array(let elements): try write(elements)
    case .object(let members): try write(members)
    }
  }

  private mutating func write(_ number: Double, of value: JSONValue) throws(JSONError) {
    if number.isFinite {
      append(Self.digits(of: number))
    } else if strict {
      throw JSONError.notFinite(path: JSONPath(steps))
    } else {
      append(value.vastNumber ?? "null")
    }
  }

  /// The shortest digits that are read back as the same number. An integer from 2⁵³ up to the range of `UInt64` is
  /// written with all its digits. If the double 18433929423726854144 were written as `1.8433929423726855e+19`, a parser
  /// might read the integer 18433929423726855000.
  private static func digits(of number: Double) -> String {
    guard number.magnitude >= 0x1p53 else { return "\(number)" }
    return Int64(exactly: number).map(String.init) ?? UInt64(exactly: number).map(String.init) ?? "\(number)"
  }

  /// Throws an error if one more array or object would be nested too deeply.
  private func checkDepth() throws(JSONError) {
    guard steps.count + depth < JSONValue.depthLimit else { throw JSONError.tooDeep(limit: JSONValue.depthLimit) }
  }

  private mutating func write(_ elements: [JSONValue]) throws(JSONError) {
    try checkDepth()
    append("[")
    for (index, element) in elements.enumerated() {
      guard bytes.count < limit else { return }
      if index > 0 { append(",") }
      steps.append(.index(index))
      breakLine()
      try write(element)
      steps.removeLast()
    }
    if !elements.isEmpty { breakLine() }
    append("]")
  }

  private mutating func write(_ members: [String: JSONValue]) throws(JSONError) {
    try checkDepth()
    append("{")
    for (index, member) in members.sorted(by: { $0.key < $1.key }).enumerated() {
      guard bytes.count < limit else { return }
      if index > 0 { append(",") }
      steps.append(.key(member.key))
      breakLine()
      write(member.key)
      append(pretty ? ": " : ":")
      try write(masking && JSONMask.isSecret(key: member.key) ? .string(JSONMask.mark) : member.value)
      steps.removeLast()
    }
    if !members.isEmpty { breakLine() }
    append("}")
  }

  /// Appends the text that precedes the value to which a step leads.
  mutating func open(_ step: JSONPath.Step) {
    switch step {
    case .key(let key):
      append("{")
      write(key)
      append(":")
    case .index(let number):
      append("[")
      for _ in 0..<number { append("null,") }
    }
  }

  /// Appends a string with its quotation marks.
  mutating func write(_ string: String) {
    append("\"")
    for byte in string.utf8 {
      guard bytes.count < limit else { return }
      switch byte {
      case UInt8(ascii: "\""): append("\\\"")
      case UInt8(ascii: "\\"): append("\\\\")
      case UInt8(ascii: "\n"): append("\\n")
      case UInt8(ascii: "\r"): append("\\r")
      case UInt8(ascii: "\t"): append("\\t")
      case 0..<0x10: append("\\u000" + String(byte, radix: 16))
      case 0x10..<0x20: append("\\u00" + String(byte, radix: 16))
      default: bytes.append(byte)
      }
    }
    append("\"")
  }

  private mutating func breakLine() {
    guard pretty else { return }
    bytes.append(UInt8(ascii: "\n"))
    bytes.append(contentsOf: repeatElement(UInt8(ascii: " "), count: 2 * steps.count))
  }

  private mutating func append(_ text: String) {
    bytes.append(contentsOf: text.utf8)
  }
}
