import ErrandSupport
package import Foundation

/// A parsed JSON text. It consists of the bytes of the text and of the *tape*: an array of 64-bit words with the kinds
/// and positions of all values. The parser writes the tape while it reads the text.
///
/// The document owns a copy of the text, followed by zero bytes. So eight bytes can be read at once from any position,
/// and values that were read from the document can outlive the original text.
final class JSONDocument: @unchecked Sendable {  // only the hints, which are atomic, and the locked tables change
  /// The maximum length of a text in bytes: 256 MiB, the largest length that a ``JSONWord`` can hold.
  static let limit = JSONWord.most

  /// The bytes of the text and the zero bytes after them.
  let text: UnsafePointer<UInt8>
  /// The number of bytes in the text.
  let count: Int
  /// The words of the tape. The root value begins at the first word. The root is followed by an extra null, which is
  /// read instead of a missing value.
  let words: UnsafePointer<UInt64>
  /// The index of the extra null after the root, which is read instead of a missing value.
  let nothing: Int
  /// Whether the text may have numbers that exceed the range of `Double`.
  let hasVastNumbers: Bool
  /// Lookup tables of containers that are accessed repeatedly.
  let known = Locked(JSONLookupTables())

  /// Parses a text in UTF-8, UTF-16 or UTF-32.
  /// - Throws: ``JSONError``.
  init(_ data: Data) throws(JSONError) {
    let utf8 = try JSONText.utf8(of: data)
    guard utf8.count <= Self.limit else { throw JSONError.tooLarge(limit: Self.limit) }
    let copy = JSONTextCopy(utf8)
    var parser = JSONDocumentParser(copy)
    do throws(JSONError) {
      try parser.parse()
    } catch {
      parser.tape.deallocate()
      copy.deallocate()
      throw error
    }
    nothing = parser.tape.count
    parser.tape.append(JSONWord(.null, length: 0, place: 0))
    hasVastNumbers = parser.hasVastNumbers
    text = UnsafePointer(copy.bytes)
    count = copy.count
    words = UnsafePointer(parser.tape.words)
  }

  deinit {
    text.deallocate()
    words.deallocate()
  }

  func word(_ index: Int) -> JSONWord { JSONWord(bits: words[index]) }

  /// The index after the last word of a value.
  func end(of index: Int) -> Int {
    let word = word(index)
    return word.isContainer ? word.place : index + 1
  }
}

/// Lookup tables of a document's containers that are accessed repeatedly. The keys are the containers' indices.
struct JSONLookupTables {
  /// The indices of the elements of arrays.
  var elements: [Int: [Int]] = [:]
  /// The key tables of objects for which a linear search is too slow or wrong (``JSONWord/Kind/objectWithKeyTable``).
  var keys: [Int: JSONKeyTable] = [:]
  /// The indices of all numbers that exceed the range of `Double`, in ascending order; nil if they were not needed yet.
  var vastNumbers: [UInt32]?
}

/// A copy of a text, followed by zero bytes.
struct JSONTextCopy {
  /// The number of zero bytes after the text: two 64-bit words, so that a whole word can be read at the last byte.
  private static let margin = 16

  let bytes: UnsafeMutablePointer<UInt8>
  let count: Int

  init(_ data: Data) {
    count = data.count
    bytes = .allocate(capacity: count + Self.margin)
    data.withUnsafeBytes { text in
      if let first = text.baseAddress { UnsafeMutableRawPointer(bytes).copyMemory(from: first, byteCount: text.count) }
    }
    (bytes + count).initialize(repeating: 0, count: Self.margin)
  }

  func deallocate() { bytes.deallocate() }
}

extension JSONDocument {
  /// The text of a string or a key.
  func string(_ word: JSONWord) -> String {
    JSONBytes.string(text + word.place, word.length, isEscaped: word.isKind(.escaped))
  }

  /// The text of a number, as written.
  func numeral(_ word: JSONWord) -> String { JSONBytes.string(text + word.place, word.length, isEscaped: false) }

  /// The exact value of a number that is written as an integer; nil if the value does not fit the type.
  func integer<Number: FixedWidthInteger>(_ word: JSONWord, as type: Number.Type = Number.self) -> Number? {
    let isNegative = text[word.place] == UInt8(ascii: "-")
    let start = isNegative ? 1 : 0
    // Every integer of up to nineteen digits fits 64 bits.
    guard word.length - start < 20 else { return long(word) }
    var magnitude: UInt64 = 0
    for index in start..<word.length {
      magnitude = magnitude &* 10 &+ UInt64(text[word.place + index] &- UInt8(ascii: "0"))
    }
    guard isNegative else { return Number(exactly: magnitude) }
    return magnitude <= UInt64(Int64.max) ? Number(exactly: -Int64(magnitude)) : long(word)
  }

  private func long<Number: FixedWidthInteger>(_ word: JSONWord) -> Number? { Number(numeral(word)) }

  /// The nearest `Double`; nil if the number exceeds the range of `Double`.
  func double(_ word: JSONWord) -> Double? {
    if let nearest = JSONFloat(text + word.place, word.length).nearest { return nearest }
    guard let double = Double(numeral(word)), double.isFinite else { return nil }
    return double
  }

  /// The nearest `Float`; nil if the number exceeds the range of `Float`.
  func float(_ word: JSONWord) -> Float? {
    // Conversion through `Double` would round the number twice.
    guard let float = Float(numeral(word)), float.isFinite else { return nil }
    return float
  }
}

/// A body that is parsed only once. Several readers use the result: the check by ``JSONShape``, the code that finds the
/// API's own status code and message in the body, and the decoder of the typed value.
package struct ParsedJSON: Sendable {
  let document: JSONDocument

  /// - Throws: ``JSONError``.
  package init(_ data: Data) throws(JSONError) { document = try JSONDocument(data) }

  /// The value at a path; nil if the path has no value. If an object has equal keys, the first key is used.
  /// - Throws: ``JSONError`` if a number in the value exceeds the range of `Double`.
  package func value(at path: JSONPath) throws(JSONError) -> JSONValue? { try value(at: path, rules: .standard) }

  /// The value at a path; nil if the path has no value.
  /// - Parameter rules: The strategies for reading Swift types from the value.
  func value(at path: JSONPath, rules: TapeRules) throws(JSONError) -> JSONValue? {
    guard let index = document.index(at: path) else { return nil }
    return try TapeSource(document, rules: rules).json(at: index)
  }
}

extension JSONDocument {
  /// The bytes of the value at an index, as they are written in the text.
  func bytes(at index: Int) -> Data {
    let word = word(index)
    if word.isContainer {
      let start = start(of: index)
      return Data(bytes: text + start, count: endOfContainer(at: start) - start)
    }
    // The position and the length of a string do not include its quotation marks.
    let quote = word.isString ? 1 : 0
    return Data(bytes: text + word.place - quote, count: word.length + 2 * quote)
  }

  /// The position after the array or object that begins at a position.
  private func endOfContainer(at start: Int) -> Int {
    var (here, depth) = (start, 0)
    repeat {
      switch text[here] {
      case UInt8(ascii: "\""):
        here += 1
        while text[here] != UInt8(ascii: "\"") { here += text[here] == UInt8(ascii: "\\") ? 2 : 1 }
      case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
      default: break
      }
      here += 1
    } while depth > 0
    return here
  }

  /// A text that has only the value at a path, at the same path. Elements before the path's are null. Nil if the path
  /// has no value.
  func bytes(only path: JSONPath) -> Data? {
    guard let index = index(at: path) else { return nil }
    var writer = JSONWriter()
    for step in path.steps { writer.open(step) }
    let closing = path.steps.reversed().map { step in
      if case .key = step { UInt8(ascii: "}") } else { UInt8(ascii: "]") }
    }
    return Data(writer.bytes) + bytes(at: index) + closing
  }
}

extension ParsedJSON {
  /// The members of an object in the order of the text, each with the bytes of its key and its value as they are
  /// written. The bytes of a key include the quotation marks. Nil if the text is not an object.
  package var members: [(name: String, key: Data, value: Data)]? {
    let root = document.word(0)
    guard root.isObject else { return nil }
    var members: [(name: String, key: Data, value: Data)] = []
    var key = 2
    while key < root.place {
      let name = document.string(document.word(key))
      members.append((name, document.bytes(at: key), document.bytes(at: key + 1)))
      key = document.end(of: key + 1)
    }
    return members
  }
}

extension JSONDecoding {
  /// The bytes of the value at a path, as they are written in a JSON text.
  /// - Throws: ``JSONDecodingError`` if the text is not JSON, or if the value is missing or null.
  package static func bytes(
    from data: Data, parsed: ParsedJSON?, at path: JSONPath
  ) throws(JSONDecodingError) -> Data {
    let (document, index) = try place(at: path, in: data, parsed)
    return document.bytes(at: index)
  }

  /// The text of the value at a path: the characters of a string, and any other value as it is written.
  /// - Throws: ``JSONDecodingError`` if the text is not JSON, or if the value is missing or null.
  package static func text(
    from data: Data, parsed: ParsedJSON?, at path: JSONPath
  ) throws(JSONDecodingError) -> String {
    let (document, index) = try place(at: path, in: data, parsed)
    let word = document.word(index)
    return word.isString ? document.string(word) : String(decoding: document.bytes(at: index), as: UTF8.self)
  }

  private static func place(
    at path: JSONPath, in data: Data, _ parsed: ParsedJSON?
  ) throws(JSONDecodingError) -> (document: JSONDocument, index: Int) {
    let document: JSONDocument
    do throws(JSONError) {
      document = if let parsed { parsed.document } else { try JSONDocument(data) }
    } catch {
      throw JSONDecodingError(error, excerpt: JSONExcerpt.markup(in: data))
    }
    let root = JSONValue.inText(document, at: 0)
    guard let index = document.index(at: path) else { throw JSONDecodingError(missing: path, in: root) }
    if document.word(index).isKind(.null) { throw JSONDecodingError(nullAt: path, in: root) }
    return (document, index)
  }
}
