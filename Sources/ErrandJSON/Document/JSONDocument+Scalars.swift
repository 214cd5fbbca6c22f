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
