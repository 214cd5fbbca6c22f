import ErrandSupport
import Foundation

/// A JSON text and where its values lie in it, found in one pass.
///
/// It owns a copy of the text, behind which stand zero bytes: so eight bytes can be read at a time anywhere in it, and
/// what reads from it may outlive the text it was made of.
final class JSONDocument: @unchecked Sendable {  // only hints change, which are atomic, and what is behind a lock
  /// What a text may be long at most: 256 MiB, the reach of a word's length.
  static let limit = JSONWord.most

  /// The bytes of the text and the zero bytes behind them.
  let text: UnsafePointer<UInt8>
  /// The bytes of the text.
  let count: Int
  /// The tape; the root is the first word. Behind the root stands null, for those who read what is not there.
  let words: UnsafePointer<UInt64>
  /// The index of the null behind the root.
  let nothing: Int
  /// Whether there may be numbers beyond all doubles.
  let hasVastNumbers: Bool
  /// What was found out about containers that are asked again and again.
  let known = Locked(JSONKnown())

  /// Reads a text in any of the encodings of JSON.
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

  /// The index behind a value.
  func end(of index: Int) -> Int {
    let word = word(index)
    return word.isContainer ? word.place : index + 1
  }
}

/// What was found out about a document's containers that are asked again and again, by their indices on the tape.
struct JSONKnown {
  /// Where the elements of arrays lie.
  var elements: [Int: [Int]] = [:]
  /// Where the values of an object lie whose keys cannot be found by looking from one to the next.
  var keys: [Int: JSONKeyTable] = [:]
}

/// The copy of a text with zero bytes behind it.
struct JSONTextCopy {
  /// How many zero bytes stand behind the text: two words, so that one can be read at its last byte.
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

  /// The text of a number, as it was written.
  func numeral(_ word: JSONWord) -> String { JSONBytes.string(text + word.place, word.length, isEscaped: false) }

  /// A number of digits alone as it is, where the type has room for it.
  func integer<Number: FixedWidthInteger>(_ word: JSONWord, as type: Number.Type = Number.self) -> Number? {
    let isNegative = text[word.place] == UInt8(ascii: "-")
    let start = isNegative ? 1 : 0
    // Nineteen digits fit 64 bits whatever they are.
    guard word.length - start < 20 else { return long(word) }
    var magnitude: UInt64 = 0
    for index in start..<word.length {
      magnitude = magnitude &* 10 &+ UInt64(text[word.place + index] &- UInt8(ascii: "0"))
    }
    guard isNegative else { return Number(exactly: magnitude) }
    return magnitude <= UInt64(Int64.max) ? Number(exactly: -Int64(magnitude)) : long(word)
  }

  private func long<Number: FixedWidthInteger>(_ word: JSONWord) -> Number? { Number(numeral(word)) }

  /// The nearest double; nil where the number is beyond all of them.
  func double(_ word: JSONWord) -> Double? {
    if let nearest = JSONFloat(text + word.place, word.length).nearest { return nearest }
    guard let double = Double(numeral(word)), double.isFinite else { return nil }
    return double
  }

  /// The nearest float; nil where the number is beyond all of them.
  func float(_ word: JSONWord) -> Float? {
    // By way of a double a number would be rounded twice.
    guard let float = Float(numeral(word)), float.isFinite else { return nil }
    return float
  }
}
