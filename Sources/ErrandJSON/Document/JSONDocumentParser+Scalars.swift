extension JSONDocumentParser {
  @inline(__always)
  mutating func skipSpace() {
    while true {
      switch text[at] {
      case UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: "\t"): at += 1
      default: return
      }
    }
  }

  mutating func literal(_ word: StaticString, _ kind: JSONWord.Kind) throws(JSONError) {
    guard JSONBytes.areSame(text + at, word.utf8Start, word.utf8CodeUnitCount) else { throw broken("expected a value") }
    tape.append(JSONWord(kind, length: word.utf8CodeUnitCount, place: at))
    at += word.utf8CodeUnitCount
  }

  // MARK: - Numbers

  /// Validates the grammar of a number. The value of the number is computed later, when the number is read.
  @inline(__always)
  mutating func number() throws(JSONError) {
    let start = at
    var kind = JSONWord.Kind.integer
    if text[at] == UInt8(ascii: "-") { at += 1 }
    if text[at] == UInt8(ascii: "0") {
      at += 1
      if isDigit(text[at]) { throw broken("a number has a leading zero") }
    } else {
      try digits()
    }
    if text[at] == UInt8(ascii: ".") {
      kind = .decimal
      at += 1
      try digits()
    }
    if text[at] | 0x20 == UInt8(ascii: "e") {
      kind = .decimal
      hasVastNumbers = true
      at += 1
      if text[at] == UInt8(ascii: "+") || text[at] == UInt8(ascii: "-") { at += 1 }
      try digits()
    }
    if at - start > Self.mostDigits { hasVastNumbers = true }
    tape.append(JSONWord(kind, length: at - start, place: start))
  }

  /// Every number of at most 308 bytes without an exponent is within the range of `Double`.
  static let mostDigits = 308

  @inline(__always)
  private mutating func digits() throws(JSONError) {
    guard isDigit(text[at]) else { throw broken("expected a digit") }
    repeat { at += 1 } while isDigit(text[at])
  }

  @inline(__always)
  private func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") < 10 }

  // MARK: - Strings

  /// Reads a string, including both quotation marks.
  @inline(__always)
  mutating func string() throws(JSONError) {
    at += 1
    let start = at
    var kind = JSONWord.Kind.plain
    while true {
      skipPlain()
      let byte = text[at]
      if byte == UInt8(ascii: "\"") { break }
      if byte == UInt8(ascii: "\\") {
        kind = .escaped
        try escape()
      } else if byte >= 0x80 {
        try sequence()
      } else {
        throw broken(at < count ? "a string contains an unescaped control character" : "the text ends inside a string")
      }
    }
    tape.append(JSONWord(kind, length: at - start, place: start))
    at += 1
  }

  /// Skips ASCII bytes that need no special treatment, eight at a time.
  @inline(__always)
  private mutating func skipPlain() {
    while true {
      let eight = UInt64(littleEndian: UnsafeRawPointer(text + at).loadUnaligned(as: UInt64.self))
      let marks = JSONBytes.special(in: eight)
      guard marks == 0 else {
        at += marks.trailingZeroBitCount >> 3
        return
      }
      at += 8
    }
  }

  private mutating func escape() throws(JSONError) {
    switch text[at + 1] {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
      UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
      at += 2
    case UInt8(ascii: "u"): try unicodeEscape()
    default: throw broken("unknown escape sequence in a string")
    }
  }

  /// Reads the escape of one Unicode scalar: a single escape, or a high surrogate followed by a low surrogate.
  private mutating func unicodeEscape() throws(JSONError) {
    guard let unit = JSONBytes.hexadecimal(text + at + 2) else { throw broken("expected four hexadecimal digits") }
    if unit & 0xF800 == 0xD800 {
      guard unit < 0xDC00, text[at + 6] == UInt8(ascii: "\\"), text[at + 7] == UInt8(ascii: "u"),
        let low = JSONBytes.hexadecimal(text + at + 8), low & 0xFC00 == 0xDC00
      else { throw broken("a string contains an unpaired surrogate") }
      at += 6
    }
    at += 6
  }

  /// Reads a UTF-8 sequence of two to four bytes (RFC 3629 section 4).
  private mutating func sequence() throws(JSONError) {
    let (first, second) = (text[at], text[at + 1])
    let length: Int
    let mayFollow: ClosedRange<UInt8>
    switch first {
    case 0xC2...0xDF: (length, mayFollow) = (2, 0x80...0xBF)
    case 0xE0: (length, mayFollow) = (3, 0xA0...0xBF)
    case 0xED: (length, mayFollow) = (3, 0x80...0x9F)
    case 0xE1...0xEF: (length, mayFollow) = (3, 0x80...0xBF)
    case 0xF0: (length, mayFollow) = (4, 0x90...0xBF)
    case 0xF4: (length, mayFollow) = (4, 0x80...0x8F)
    case 0xF1...0xF3: (length, mayFollow) = (4, 0x80...0xBF)
    default: throw broken("the bytes are not valid UTF-8")
    }
    var isWhole = mayFollow ~= second
    if length > 2 { isWhole = isWhole && text[at + 2] & 0xC0 == 0x80 }
    if length > 3 { isWhole = isWhole && text[at + 3] & 0xC0 == 0x80 }
    guard isWhole else { throw broken("the bytes are not valid UTF-8") }
    at += length
  }
}
