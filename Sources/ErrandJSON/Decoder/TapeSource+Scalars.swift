import Foundation

/// The values that a text itself has: strings, truth values and numbers.
extension TapeSource {
  func isNull(at index: Int) -> Bool { document.word(index).isKind(.null) }

  func string(at index: Int) throws -> String { try string(for: String.self, at: index) }

  /// - Parameter due: What the string is read for.
  func string(for due: any Any.Type, at index: Int) throws -> String {
    let word = document.word(index)
    guard word.isString else { throw mismatch(due, at: index) }
    return document.string(word)
  }

  /// The date of a string in the form that most have; nil for all others.
  func moment(at index: Int) -> Date? {
    let word = document.word(index)
    return word.isKind(.plain) ? JSONDate.moment(document.text + word.place, word.length) : nil
  }

  func bool(at index: Int) throws -> Bool {
    switch document.word(index).kind {
    case .yes: return true
    case .no: return false
    // JSONDecoder tells null from a mismatch for every type but this one.
    default: throw mismatchEvenOfNull(Bool.self, at: index)
    }
  }

  func integer<Number: FixedWidthInteger>(_ type: Number.Type, at index: Int) throws -> Number {
    let word = document.word(index)
    if word.isKind(.integer), let number = document.integer(word, as: type) { return number }
    return try unusualInteger(type, at: index)
  }

  /// A whole number that is written as a fraction or with an exponent; else the error.
  private func unusualInteger<Number: FixedWidthInteger>(_ type: Number.Type, at index: Int) throws -> Number {
    let word = document.word(index)
    switch word.kind {
    case .integer: throw misfit(type, at: index)
    case .decimal: break
    default: throw mismatch(type, at: index)
    }
    guard let double = document.double(word), let number = Number(exactly: double) else {
      throw misfit(type, at: index)
    }
    // Beyond, doubles leave whole numbers out: the text may be another number.
    guard double.magnitude >= 0x1p53 else { return number }
    guard let decimal = Decimal(string: document.numeral(word)), let exact = Number(decimal.description) else {
      throw misfit(type, at: index)
    }
    return exact
  }

  func double(at index: Int) throws -> Double {
    let word = document.word(index)
    guard word.isNumber else { return try unusualNumber(Double.self, at: index) }
    guard let double = document.double(word) else { throw misfit(Double.self, at: index) }
    return double
  }

  func float(at index: Int) throws -> Float {
    let word = document.word(index)
    guard word.isNumber else { return try unusualNumber(Float.self, at: index) }
    guard let float = document.float(word) else { throw misfit(Float.self, at: index) }
    return float
  }

  /// A number that is none and that the rules have a string for; else the error.
  private func unusualNumber<Number: BinaryFloatingPoint>(_ type: Number.Type, at index: Int) throws -> Number {
    let word = document.word(index)
    guard case .convertFromString(let infinity, let negativeInfinity, let nan) = rules.floats, word.isString else {
      throw mismatch(type, at: index)
    }
    switch document.string(word) {
    case infinity: return .infinity
    case negativeInfinity: return -.infinity
    case nan: return .nan
    default: throw mismatch(type, at: index)
    }
  }
}
