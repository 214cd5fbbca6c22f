import ErrandSupport
import Foundation

/// The context of one decoding: a document, and the rules by which types read the document. Values may keep the context
/// after the decoding, and several threads may use it.
final class TapeSource: Sendable {
  let document: JSONDocument
  let rules: TapeRules
  /// The coding path of a missing value. Nil unless this source belongs to a decoder that reads null for a missing
  /// value.
  private let absent: [any CodingKey]?
  /// The coding path of the document inside a larger document. Empty if the document is not part of a larger document.
  private let start: [any CodingKey]
  private let pathState = Locked(PathState())

  /// The data from which the coding paths of values are found.
  private struct PathState {
    var finder = TapePathFinder()
    /// The indices of the objects that were read as dictionaries. The rules do not convert the keys of dictionaries.
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

  /// Reads the value at an index. Uses specialised code if Errand has such code for the type, otherwise the type's own
  /// `Decodable` code.
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

  /// A decoder for a missing value. The decoder reads null and reports the given path.
  func absentDecoder(at path: [any CodingKey]) -> TapeDecoder {
    TapeDecoder(source: TapeSource(document, rules: rules, absent: path), index: document.nothing)
  }

  /// Records that an object was read as a dictionary. The rules do not convert the keys of a dictionary, because these
  /// keys are data.
  func noteDictionary(_ object: Int) {
    guard !rules.keepsKeys else { return }
    pathState.withLock { _ = $0.dictionaries.insert(object) }
  }

  // MARK: - Coding paths

  func path(to index: Int) -> [any CodingKey] {
    if let absent { return absent }
    let (steps, dictionaries) = pathState.withLock { ($0.finder.steps(to: index, in: document), $0.dictionaries) }
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

/// Creates the errors of a decoding. Their cases, coding paths and types are equal to those of `JSONDecoder`.
extension TapeSource {
  /// The error for a value of another type than the expected type.
  func mismatch(_ expected: any Any.Type, at index: Int) -> DecodingError {
    isNull(at: index) ? noValue(expected, at: index) : mismatchEvenOfNull(expected, at: index)
  }

  func mismatchEvenOfNull(_ expected: any Any.Type, at index: Int) -> DecodingError {
    let found = document.word(index).nameInErrors
    return .typeMismatch(expected, context("Expected to decode \(expected) but found \(found) instead.", at: index))
  }

  /// The error for a null value if the expected type does not accept null.
  func noValue(_ expected: any Any.Type, at index: Int) -> DecodingError {
    let container = expected == [String: Any].self ? "keyed" : expected == [Any].self ? "unkeyed" : nil
    let wanted = container.map { "\($0) decoding container" } ?? "value of type \(expected)"
    return .valueNotFound(expected, context("Cannot get \(wanted) -- found null value instead", at: index))
  }

  /// The error for a number that does not fit the type.
  func outOfRange(_ expected: any Any.Type, at index: Int) -> DecodingError {
    let number = JSONDocument.shortened(document.numeral(document.word(index)))
    return corrupted("The number \(number) does not fit in \(expected).", at: index)
  }

  func corrupted(_ reason: String, at index: Int) -> DecodingError { .dataCorrupted(context(reason, at: index)) }

  private func context(_ reason: String, at index: Int) -> DecodingError.Context {
    DecodingError.Context(codingPath: path(to: index), debugDescription: reason)
  }
}

extension JSONWord {
  /// The name of the type in the messages of `JSONDecoder`.
  fileprivate var nameInErrors: String {
    switch kind {
    case .null: "null"
    case .no, .yes: "bool"
    case .integer, .decimal: "number"
    case .plain, .escaped: "a string"
    case .array: "an array"
    case .object, .objectWithKeyTable: "a dictionary"
    }
  }
}

/// Reads the scalars of JSON: null, strings, Booleans and numbers.
extension TapeSource {
  func isNull(at index: Int) -> Bool { document.word(index).isKind(.null) }

  func string(at index: Int) throws -> String {
    let word = document.word(index)
    guard word.isString else { throw mismatch(String.self, at: index) }
    return document.string(word)
  }

  /// The date of a string in the most common form; nil for all other forms. See ``JSONDate``.
  func moment(at index: Int) -> Date? {
    let word = document.word(index)
    return word.isKind(.plain) ? JSONDate.moment(document.text + word.place, word.length) : nil
  }

  func bool(at index: Int) throws -> Bool {
    switch document.word(index).kind {
    case .yes: return true
    case .no: return false
    // `JSONDecoder` reports null as a type mismatch only for Bool. For all other types, it reports a missing value.
    default: throw mismatchEvenOfNull(Bool.self, at: index)
    }
  }

  func integer<Number: FixedWidthInteger>(_ type: Number.Type, at index: Int) throws -> Number {
    let word = document.word(index)
    if word.isKind(.integer), let number = document.integer(word, as: type) { return number }
    return try unusualInteger(type, at: index)
  }

  /// Reads an integer that is written with a fraction or an exponent. Throws an error if the value is not an integer,
  /// or if the integer does not fit the type.
  private func unusualInteger<Number: FixedWidthInteger>(_ type: Number.Type, at index: Int) throws -> Number {
    let word = document.word(index)
    switch word.kind {
    case .integer: throw outOfRange(type, at: index)
    case .decimal: break
    default: throw mismatch(type, at: index)
    }
    guard let double = document.double(word), let number = Number(exactly: double) else {
      throw outOfRange(type, at: index)
    }
    // From 2⁵³ on, a double cannot represent every integer, so the text may mean another integer than the double.
    guard double.magnitude >= 0x1p53 else { return number }
    guard let decimal = Decimal(string: document.numeral(word)), let exact = Number(decimal.description) else {
      throw outOfRange(type, at: index)
    }
    return exact
  }

  func double(at index: Int) throws -> Double {
    let word = document.word(index)
    guard word.isNumber else { return try unusualNumber(Double.self, at: index) }
    guard let double = document.double(word) else { throw outOfRange(Double.self, at: index) }
    return double
  }

  func float(at index: Int) throws -> Float {
    let word = document.word(index)
    guard word.isNumber else { return try unusualNumber(Float.self, at: index) }
    guard let float = document.float(word) else { throw outOfRange(Float.self, at: index) }
    return float
  }

  /// Reads a string that the rules define for infinity or NaN. Throws an error for all other values.
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

/// Reads a date of the form `2026-11-21T16:00:00Z`, which most servers use. Foundation's own parser takes much longer.
private struct JSONDate {
  private let text: UnsafePointer<UInt8>

  /// Returns the date of a text of the form `2026-11-21T16:00:00Z`. Returns nil for all other forms; Foundation then
  /// reads the text.
  static func moment(_ text: UnsafePointer<UInt8>, _ count: Int) -> Date? {
    count == 20 ? JSONDate(text: text).moment : nil
  }

  private var moment: Date? {
    guard text[4] == UInt8(ascii: "-"), text[7] == UInt8(ascii: "-"), text[10] == UInt8(ascii: "T"),
      text[13] == UInt8(ascii: ":"), text[16] == UInt8(ascii: ":"), text[19] == UInt8(ascii: "Z"),
      let century = pair(at: 0), let yearOfCentury = pair(at: 2), let month = pair(at: 5), let day = pair(at: 8),
      let hour = pair(at: 11), let minute = pair(at: 14), let second = pair(at: 17)
    else { return nil }
    let year = century * 100 + yearOfCentury
    // The result is nil for dates up to the year 1582. Foundation reads these dates, because it uses the Julian
    // calendar for early dates.
    guard year > 1582, let date = CivilDate(year: year, month: month, day: day), hour < 24, minute < 60, second < 60
    else { return nil }
    return Date(timeIntervalSince1970: Double(date.dayNumber * 86_400 + hour * 3_600 + minute * 60 + second))
  }

  /// The value of two digits; nil if one of the bytes is not a digit.
  private func pair(at place: Int) -> Int64? {
    let (tens, ones) = (text[place] &- UInt8(ascii: "0"), text[place + 1] &- UInt8(ascii: "0"))
    return tens < 10 && ones < 10 ? Int64(tens) * 10 + Int64(ones) : nil
  }
}
