/// Parses a text from its start to its end, strictly by RFC 8259, and records the kinds and positions of the text's
/// values.
///
/// Open containers are kept in an array instead of on the stack, so that deep nesting cannot overflow the stack.
struct JSONDocumentParser {
  /// The kind of token that the parser expects next. `after` stands for the tokens that may follow a value: a comma, a
  /// closing bracket or the end of the text.
  private enum Turn { case value, key, after }

  /// An array or object whose end has not been reached.
  struct Open {
    /// The index of the container's first word in the document.
    let index: Int
    let isObject: Bool
    var members = 0
    /// One bit for the hash of each key that was read. A key whose bit is not set is new to the object.
    var keys: UInt64 = 0
    /// Whether the object needs a key table, because a linear search would be slow or wrong.
    var needsKeyTable = false
  }

  let text: UnsafePointer<UInt8>
  let count: Int
  var at = 0
  var tape: JSONTape
  /// Whether the text has a number with an exponent, or with so many digits that the number may exceed the range of
  /// `Double`.
  var hasVastNumbers = false
  private var open: [Open] = []
  private var current: Open?
  private var turn = Turn.value

  init(_ copy: JSONTextCopy) {
    text = UnsafePointer(copy.bytes)
    count = copy.count
    tape = JSONTape(capacity: copy.count / 6 + 16)
  }

  /// Parses the whole text.
  mutating func parse() throws(JSONError) {
    skipSpace()
    guard at < count else { throw JSONError.empty }
    while true {
      skipSpace()
      switch turn {
      case .value: turn = try value()
      case .key: turn = try key()
      case .after:
        guard current != nil else {
          if at < count { throw broken("unexpected text after the value") }
          return
        }
        turn = try separator()
      }
    }
  }

  // MARK: - One step

  @inline(__always)
  private mutating func value() throws(JSONError) -> Turn {
    switch text[at] {
    case UInt8(ascii: "\""): try string()
    case UInt8(ascii: "{"): return try begin(isObject: true)
    case UInt8(ascii: "["): return try begin(isObject: false)
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): try number()
    case UInt8(ascii: "t"): try literal("true", .yes)
    case UInt8(ascii: "f"): try literal("false", .no)
    case UInt8(ascii: "n"): try literal("null", .null)
    default: throw broken(at < count ? "expected a value" : "the text ends where a value is expected")
    }
    return .after
  }

  @inline(__always)
  private mutating func begin(isObject: Bool) throws(JSONError) -> Turn {
    if let current { open.append(current) }
    guard open.count < JSONValue.depthLimit else { throw JSONError.tooDeep(limit: JSONValue.depthLimit) }
    current = Open(index: tape.count, isObject: isObject)
    tape.append(JSONWord(.array, length: 0, place: 0))
    tape.append(JSONWord(bits: UInt64(at)))
    at += 1
    skipSpace()
    guard text[at] == (isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) else {
      if !isObject { current?.members = 1 }
      return isObject ? .key : .value
    }
    end()
    return .after
  }

  @inline(__always)
  private mutating func key() throws(JSONError) -> Turn {
    guard text[at] == UInt8(ascii: "\"") else {
      throw broken(at < count ? "expected a key in quotation marks" : "the text ends where a key is expected")
    }
    try string()
    note(key: tape.count - 1)
    skipSpace()
    guard text[at] == UInt8(ascii: ":") else { throw broken("expected a colon after the key") }
    at += 1
    return .value
  }

  @inline(__always)
  private mutating func separator() throws(JSONError) -> Turn {
    guard var container = current else { return .after }
    let closing = container.isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")
    switch text[at] {
    case UInt8(ascii: ","):
      at += 1
      if container.isObject { return .key }
      container.members += 1
      current = container
      return .value
    case closing:
      end()
      return .after
    default:
      let expected = container.isObject ? "a comma or }" : "a comma or ]"
      throw broken(at < count ? "expected \(expected)" : "the text ends where \(expected) is expected")
    }
  }

  @inline(__always)
  private mutating func end() {
    guard let container = current else { return }
    let kind: JSONWord.Kind = !container.isObject ? .array : container.needsKeyTable ? .objectWithKeyTable : .object
    tape[container.index] = JSONWord(kind, length: container.members, place: tape.count)
    at += 1
    current = open.popLast()
  }

  // MARK: - Keys

  /// Counts a key of the current object. Marks the object if it needs a key table, because it has more than 64 keys,
  /// two equal keys, or a key with escapes.
  @inline(__always)
  private mutating func note(key index: Int) {
    guard var container = current else { return }
    container.members += 1
    if !container.needsKeyTable {
      let word = tape[index]
      let bit = UInt64(1) << hash(word)
      if word.isKind(.escaped) || container.members > 64 {
        container.needsKeyTable = true
      } else if container.keys & bit != 0, has(word, in: container, before: index) {
        container.needsKeyTable = true
      }
      container.keys |= bit
    }
    current = container
  }

  /// A hash of six bits, calculated from a key's length and first eight bytes.
  @inline(__always)
  private func hash(_ key: JSONWord) -> UInt64 {
    let bytes = UnsafeRawPointer(text + key.place).loadUnaligned(as: UInt64.self)
    let kept = key.length >= 8 ? bytes : UInt64(littleEndian: bytes) & (1 << UInt64(key.length * 8) &- 1)
    return ((kept ^ UInt64(key.length)) &* 0x9E37_79B9_7F4A_7C15) >> 58
  }

  /// Whether an object of at most 64 keys has an equal key before the index `end`.
  private func has(_ key: JSONWord, in container: Open, before end: Int) -> Bool {
    var index = container.index + 2
    while index < end {
      let other = tape[index]
      if other.length == key.length, JSONBytes.areSame(text + other.place, text + key.place, key.length) { return true }
      let value = tape[index + 1]
      index = value.isContainer ? value.place : index + 2
    }
    return false
  }

  // MARK: - Errors

  /// Creates the syntax error for the parser's current position in the text.
  func broken(_ reason: String) -> JSONError {
    let seen = UnsafeRawBufferPointer(start: text, count: count)
    return .notJSON(reason: reason, at: JSONPlace(byte: min(at, count), in: seen, path: path))
  }

  /// The path of the value that is being read. Between two members, this is the path of their container.
  private var path: JSONPath {
    let containers = open + (current.map { [$0] } ?? [])
    let members = containers.dropFirst().map(\.index) + (turn == .value ? [tape.count] : [])
    var steps: [JSONPath.Step] = []
    for (container, next) in zip(containers, members) {
      if !container.isObject {
        steps.append(.index(max(container.members - 1, 0)))
      } else if let key = keyText(before: next, in: container) {
        steps.append(.key(key))
      }
    }
    return JSONPath(steps)
  }

  /// The key of the value at an index; nil if no key of the object has been read yet.
  private func keyText(before index: Int, in container: Open) -> String? {
    guard index > container.index + 2 else { return nil }
    let key = tape[index - 1]
    guard key.isString else { return nil }
    return JSONBytes.string(text + key.place, key.length, isEscaped: key.kind == .escaped)
  }
}

/// The position in a text at which the text violates the grammar of JSON.
public struct JSONPlace: Sendable, Hashable {
  /// The number of bytes before the position, in UTF-8 without a byte order mark.
  public let byte: Int
  /// The number of the line that contains the position, counted from 1.
  public let line: Int
  /// The column of the position, counted from 1 in Unicode scalars.
  public let column: Int
  /// The path of the value that the parser was reading at the position.
  public let path: JSONPath

  /// - Parameter text: The text. Only the bytes before `byte` are read.
  init(byte: Int, in text: UnsafeRawBufferPointer, path: JSONPath) {
    let before = text.prefix(byte)
    let line = before.reduce(1) { $1 == UInt8(ascii: "\n") ? $0 + 1 : $0 }
    let start = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? before.startIndex
    self.byte = byte
    self.line = line
    column = before[start...].reduce(1) { $1 & 0xC0 == 0x80 ? $0 : $0 + 1 }
    self.path = path
  }
}

extension JSONPlace: CustomStringConvertible {
  /// The position in words: `line 3, column 7, in $.items[2]`.
  public var description: String {
    "line \(line), column \(column)" + (path.steps.isEmpty ? "" : ", in \(path)")
  }
}
