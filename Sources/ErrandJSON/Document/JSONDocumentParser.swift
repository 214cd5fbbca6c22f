/// Reads a text once, by RFC 8259 and nothing else, and writes the tape of its values.
///
/// Containers that are open wait in a list instead of on the stack, so that deep nesting cannot overflow it.
struct JSONDocumentParser {
  /// What may stand next.
  private enum Turn { case value, key, after }

  /// A container whose end has not been reached.
  struct Open {
    /// Its first word.
    let index: Int
    let isObject: Bool
    var members = 0
    /// A bit for each key so far: a key without its bit is a new one.
    var keys: UInt64 = 0
    /// Whether its keys cannot be found by looking from one to the next.
    var isCrowd = false
  }

  let text: UnsafePointer<UInt8>
  let count: Int
  var at = 0
  var tape: JSONTape
  /// Whether a number has an exponent, or so many digits that no double may hold it.
  var hasVastNumbers = false
  private var open: [Open] = []
  private var current: Open?
  private var turn = Turn.value

  init(_ copy: JSONTextCopy) {
    text = UnsafePointer(copy.bytes)
    count = copy.count
    tape = JSONTape(room: copy.count / 6 + 16)
  }

  /// Reads the whole text.
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
          if at < count { throw broken("something stands behind the value") }
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
    default: throw broken(at < count ? "a value is due" : "it ends where a value is due")
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
      throw broken(at < count ? "a key in quotes is due" : "it ends where a key is due")
    }
    try string()
    note(key: tape.count - 1)
    skipSpace()
    guard text[at] == UInt8(ascii: ":") else { throw broken("a colon is due behind the key") }
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
      let due = container.isObject ? "a comma or } is due" : "a comma or ] is due"
      throw broken(at < count ? due : "it ends where \(due)")
    }
  }

  @inline(__always)
  private mutating func end() {
    guard let container = current else { return }
    let kind: JSONWord.Kind = !container.isObject ? .array : container.isCrowd ? .crowd : .object
    tape[container.index] = JSONWord(kind, length: container.members, place: tape.count)
    at += 1
    current = open.popLast()
  }

  // MARK: - Keys

  /// Counts a key, and finds out whether it stood there before.
  @inline(__always)
  private mutating func note(key index: Int) {
    guard var container = current else { return }
    container.members += 1
    if !container.isCrowd {
      let word = tape[index]
      let bit = UInt64(1) << hash(word)
      if word.isKind(.escaped) || container.members > 64 {
        container.isCrowd = true
      } else if container.keys & bit != 0, has(word, in: container, before: index) {
        container.isCrowd = true
      }
      container.keys |= bit
    }
    current = container
  }

  /// Six bits of a key's length and first eight bytes.
  @inline(__always)
  private func hash(_ key: JSONWord) -> UInt64 {
    let bytes = UnsafeRawPointer(text + key.place).loadUnaligned(as: UInt64.self)
    let kept = key.length >= 8 ? bytes : UInt64(littleEndian: bytes) & (1 << UInt64(key.length * 8) &- 1)
    return ((kept ^ UInt64(key.length)) &* 0x9E37_79B9_7F4A_7C15) >> 58
  }

  /// Whether a key stands before, in an object of at most 64 keys.
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

  /// The error for the place that has been reached.
  func broken(_ reason: String) -> JSONError {
    let seen = UnsafeRawBufferPointer(start: text, count: count)
    return .notJSON(reason: reason, at: JSONPlace(byte: min(at, count), in: seen, path: path))
  }

  /// The way to the value that is being read, or to the container between two of its members.
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

  /// The key whose value begins at an index; nil where none has come yet.
  private func keyText(before index: Int, in container: Open) -> String? {
    guard index > container.index + 2 else { return nil }
    let key = tape[index - 1]
    guard key.isString else { return nil }
    return JSONBytes.string(text + key.place, key.length, isEscaped: key.kind == .escaped)
  }
}

/// Where in a text its grammar is broken.
public struct JSONPlace: Sendable, Hashable {
  /// The byte from the start, counted from 0 in UTF-8 and without a byte order mark.
  public let byte: Int
  /// The line, counted from 1.
  public let line: Int
  /// The character in the line, counted from 1.
  public let column: Int
  /// The value that was being read.
  public let path: JSONPath

  /// - Parameter text: The text up to the byte, at least.
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
  /// The place in words: `line 3, column 7, in $.items[2]`.
  public var description: String {
    "line \(line), column \(column)" + (path.steps.isEmpty ? "" : ", in \(path)")
  }
}
