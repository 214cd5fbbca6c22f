import ErrandSupport
import Foundation

/// One decoding: a document, and the rules by which types read it. May be kept after the decoding and used by several
/// threads.
final class TapeSource: Sendable {
  let document: JSONDocument
  let rules: TapeRules
  /// The way to what a decoder reads that stands for a value that is not there; nil for all others.
  private let absent: [any CodingKey]?
  /// The way to the document, where it was taken from a larger one.
  private let start: [any CodingKey]
  private let kept = Locked(Kept())

  /// What a decoding finds out on its way, where it has to.
  private struct Kept {
    var places = TapePlaces()
    /// The objects that were read as dictionaries, where rules turn the keys of all others.
    var dictionaries: Set<Int> = []
  }

  init(
    _ document: JSONDocument, rules: TapeRules, absent: [any CodingKey]? = nil, below start: [any CodingKey] = []
  ) {
    self.document = document
    self.rules = rules
    self.absent = absent
    self.start = start
  }

  /// The value of a type at an index: by its own code, unless the tape knows the type.
  func value<T: Decodable>(_ type: T.Type, at index: Int) throws -> T {
    switch TapeReaders.shared.reader(of: type) {
    case .ownCode: return try type.init(from: TapeDecoder(source: self, index: index))
    case .tape(let reader): return try value(type, at: index, reader: reader)
    case .json(let reader): return try value(type, at: index, reader: reader)
    }
  }

  private func value<T, Reader: TapeReadable>(_ type: T.Type, at index: Int, reader: Reader.Type) throws -> T {
    try JSONSameType.move(to: type) { try Reader.read(from: self, at: index) }
  }

  private func value<T, Reader: JSONReadable>(_ type: T.Type, at index: Int, reader: Reader.Type) throws -> T {
    try JSONSameType.move(to: type) { try Reader(json: JSONValue.read(from: self, at: index)) }
  }

  /// A decoder for a value that is not there: it finds null.
  func absentDecoder(at path: [any CodingKey]) -> TapeDecoder {
    TapeDecoder(source: TapeSource(document, rules: rules, absent: path), index: document.nothing)
  }

  /// Notes that an object was read as a dictionary: no rule turns its keys, as they are data.
  func noteDictionary(_ object: Int) {
    guard !rules.keepsKeys else { return }
    kept.withLock { _ = $0.dictionaries.insert(object) }
  }

  // MARK: - The way to a value

  func path(to index: Int) -> [any CodingKey] {
    if let absent { return absent }
    let (steps, dictionaries) = kept.withLock { ($0.places.steps(to: index, in: document), $0.dictionaries) }
    var path = start
    for step in steps {
      guard document.word(step.container).isObject else {
        path.append(AnyKey(intValue: step.number))
        continue
      }
      let key = document.string(document.word(step.value - 1))
      path.append(AnyKey(dictionaries.contains(step.container) ? key : rules.name(of: key, in: path)))
    }
    return path
  }
}

/// The errors of a decoding: in cases, ways and types those of `JSONDecoder`.
extension TapeSource {
  /// Another kind of value lies there than the one that is due.
  func mismatch(_ due: any Any.Type, at index: Int) -> DecodingError {
    isNull(at: index) ? noValue(due, at: index) : mismatchEvenOfNull(due, at: index)
  }

  func mismatchEvenOfNull(_ due: any Any.Type, at index: Int) -> DecodingError {
    let found = document.word(index).nameInErrors
    return .typeMismatch(due, context("Expected to decode \(due) but found \(found) instead.", at: index))
  }

  /// Null lies there.
  func noValue(_ due: any Any.Type, at index: Int) -> DecodingError {
    let container = due == [String: Any].self ? "keyed" : due == [Any].self ? "unkeyed" : nil
    let wanted = container.map { "\($0) decoding container" } ?? "value of type \(due)"
    return .valueNotFound(due, context("Cannot get \(wanted) -- found null value instead", at: index))
  }

  /// The number that lies there is none of the type's.
  func misfit(_ due: any Any.Type, at index: Int) -> DecodingError {
    let number = JSONDocument.shortened(document.numeral(document.word(index)))
    return corrupted("The number \(number) does not fit in \(due).", at: index)
  }

  func corrupted(_ reason: String, at index: Int) -> DecodingError { .dataCorrupted(context(reason, at: index)) }

  private func context(_ reason: String, at index: Int) -> DecodingError.Context {
    DecodingError.Context(codingPath: path(to: index), debugDescription: reason)
  }
}

extension JSONWord {
  /// What lies there, as `JSONDecoder` calls it.
  fileprivate var nameInErrors: String {
    switch kind {
    case .null: "null"
    case .no, .yes: "bool"
    case .integer, .decimal: "number"
    case .plain, .escaped: "a string"
    case .array: "an array"
    case .object, .crowd: "a dictionary"
    }
  }
}

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
