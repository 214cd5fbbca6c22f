import Foundation

/// A type that Errand's own parser reads without the type's `Decodable` code, such as an array or a date.
protocol TapeReadable: SendableMetatype {
  static func read(from source: TapeSource, at index: Int) throws -> Self
}

extension String: TapeReadable {
  static func read(from source: TapeSource, at index: Int) throws -> String { try source.string(at: index) }
}

extension Bool: TapeReadable {
  static func read(from source: TapeSource, at index: Int) throws -> Bool { try source.bool(at: index) }
}

extension Double: TapeReadable {
  static func read(from source: TapeSource, at index: Int) throws -> Double { try source.double(at: index) }
}

extension Float: TapeReadable {
  static func read(from source: TapeSource, at index: Int) throws -> Float { try source.float(at: index) }
}

extension TapeReadable where Self: FixedWidthInteger {
  static func read(from source: TapeSource, at index: Int) throws -> Self { try source.integer(Self.self, at: index) }
}

extension Int: TapeReadable {}
extension Int8: TapeReadable {}
extension Int16: TapeReadable {}
extension Int32: TapeReadable {}
extension Int64: TapeReadable {}
extension Int128: TapeReadable {}
extension UInt: TapeReadable {}
extension UInt8: TapeReadable {}
extension UInt16: TapeReadable {}
extension UInt32: TapeReadable {}
extension UInt64: TapeReadable {}
extension UInt128: TapeReadable {}

extension JSONValue: TapeReadable {
  static func read(from source: TapeSource, at index: Int) throws -> JSONValue {
    do throws(JSONError) {
      return try source.json(at: index)
    } catch {
      throw source.corrupted(error.clause, at: index)
    }
  }
}

// MARK: - Foundation's types

extension Decimal: TapeReadable {
  static func read(from source: TapeSource, at index: Int) throws -> Decimal {
    let word = source.document.word(index)
    guard word.isNumber else { throw source.mismatch(Decimal.self, at: index) }
    guard let decimal = Decimal(string: source.document.numeral(word)), decimal.isFinite else {
      throw source.outOfRange(Decimal.self, at: index)
    }
    return decimal
  }
}

extension URL: TapeReadable {
  static func read(from source: TapeSource, at index: Int) throws -> URL {
    if source.isNull(at: index) { throw source.noValue(URL.self, at: index) }
    guard let url = URL(string: try source.string(at: index)) else {
      throw source.corrupted("Invalid URL string.", at: index)
    }
    return url
  }
}

extension Data: TapeReadable {
  static func read(from source: TapeSource, at index: Int) throws -> Data {
    if source.isNull(at: index) { throw source.noValue(Data.self, at: index) }
    let decoder = TapeDecoder(source: source, index: index)
    switch source.rules.data {
    case .deferredToData: return try Data(from: decoder)
    case .custom(let read): return try read(decoder)
    case .base64: break
    @unknown default: throw source.corrupted("The data strategy is unknown.", at: index)
    }
    guard let data = Data(base64Encoded: try source.string(at: index)) else {
      throw source.corrupted("Encountered Data is not valid Base64.", at: index)
    }
    return data
  }
}

extension Date: TapeReadable {
  static func read(from source: TapeSource, at index: Int) throws -> Date {
    if source.isNull(at: index) { throw source.noValue(Date.self, at: index) }
    let decoder = TapeDecoder(source: source, index: index)
    switch source.rules.dates {
    case .deferredToDate: return try Date(from: decoder)
    case .secondsSince1970: return Date(timeIntervalSince1970: try source.double(at: index))
    case .millisecondsSince1970: return Date(timeIntervalSince1970: try source.double(at: index) / 1000)
    case .custom(let read): return try read(decoder)
    case .iso8601:
      if let moment = source.moment(at: index) { return moment }
      let text = try source.string(at: index)
      if let date = ISO8601Text.date(of: text) { return date }
      throw source.corrupted("Expected date string to be ISO8601-formatted.", at: index)
    #if canImport(Darwin)  // on other platforms, a formatter becomes a `.custom` closure
      case .formatted(let formatter):
        if let date = formatter.date(from: try source.string(at: index)) { return date }
        throw source.corrupted("Date string does not match format expected by formatter.", at: index)
    #endif
    @unknown default: throw source.corrupted("The date strategy is unknown.", at: index)
    }
  }
}

extension Array: TapeReadable where Element: Decodable {
  static func read(from source: TapeSource, at index: Int) throws -> [Element] {
    guard case .json(let reader) = TapeReaders.shared.reader(of: Element.self) else {
      return try source.elements(of: index) { try source.value(Element.self, at: $0) }
    }
    let word = source.document.word(index)
    guard word.isKind(.array) else { throw source.mismatch([Any].self, at: index) }
    return try [Element](unsafeUninitializedCapacity: word.length) { memory, count in
      guard let place = memory.baseAddress else { return }
      try reader.make(in: UnsafeMutableRawPointer(place), of: source, at: index, &count)
    }
  }
}

extension JSONReadable {
  /// Creates the elements of an array directly in the array's memory.
  /// - Parameter count: Receives the number of initialised elements, also if an error is thrown.
  fileprivate static func make(
    in memory: UnsafeMutableRawPointer, of source: TapeSource, at array: Int, _ count: inout Int
  ) throws {
    let places = memory.assumingMemoryBound(to: Self.self)
    let end = source.document.word(array).place
    var here = array + 2
    while here < end {
      (places + count).initialize(to: try Self(json: JSONValue.read(from: source, at: here)))
      count += 1
      here = source.document.end(of: here)
    }
  }
}

extension Dictionary: TapeReadable where Key == String, Value: Decodable {
  /// Reads a dictionary. If two keys are equal, the value of the first key is kept. The key strategy does not apply,
  /// because the keys of a dictionary are data.
  static func read(from source: TapeSource, at index: Int) throws -> [String: Value] {
    let word = source.document.word(index)
    guard word.isObject else { throw source.mismatch([String: Any].self, at: index) }
    source.noteDictionary(index)
    var members: [String: Value] = [:]
    members.reserveCapacity(word.length)
    var here = index + 2
    while here < word.place {
      let key = source.document.string(source.document.word(here))
      if word.isKind(.object) || members.index(forKey: key) == nil {
        let value = try source.value(Value.self, at: here + 1)
        // `String` keys are equal if they are canonically equivalent, even if their bytes differ. The first value is
        // kept.
        if let first = members.updateValue(value, forKey: key) { members[key] = first }
      }
      here = source.document.end(of: here + 1)
    }
    return members
  }
}
