import Foundation

/// Makes JSON values from text by way of Foundation's parser.
enum JSONParser {
  /// The value of a whole text in any of the encodings of JSON.
  static func parse(_ data: Data) throws(JSONError) -> JSONValue {
    let utf8 = try JSONText.utf8(of: data)
    try JSONScan.check(utf8)
    let tree: Any
    do {
      tree = try JSONSerialization.jsonObject(with: utf8, options: .fragmentsAllowed)
    } catch {
      throw reason(for: error, in: utf8)
    }
    return value(of: tree)
  }

  private static func value(of tree: Any) -> JSONValue {
    switch tree {
    case let string as String: .string(string)
    case let number as NSNumber: value(of: number)
    case let array as [Any]: .array(array.map(value(of:)))
    case let object as [String: Any]: .object(object.mapValues(value(of:)))
    default: .null
    }
  }

  /// Foundation boxes truth values as one-byte numbers, and it makes a number of one byte of nothing else in JSON.
  private static func value(of number: NSNumber) -> JSONValue {
    if let decimal = number as? NSDecimalNumber { return value(ofDigits: decimal.stringValue) }
    switch UInt8(bitPattern: number.objCType.pointee) {
    case UInt8(ascii: "c"), UInt8(ascii: "B"): return .bool(number.boolValue)
    case UInt8(ascii: "d"), UInt8(ascii: "f"): return .number(number.doubleValue)
    case UInt8(ascii: "Q"): return JSONValue(number.uint64Value)
    default: return JSONValue(number.int64Value)
    }
  }

  /// Reads the digits again: a decimal's own way to `Double` is off by one unit in the last place at times.
  private static func value(ofDigits digits: String) -> JSONValue {
    if let small = Int64(digits) { return .integer(small) }
    if let large = UInt64(digits) { return .unsigned(large) }
    return .number(Double(digits) ?? .nan)
  }

  private static func reason(for error: any Error, in utf8: Data) -> JSONError {
    if let number = JSONNumberScan.firstBeyondDouble(in: utf8) { return .numberOutOfRange(number) }
    let told = (error as NSError).userInfo[NSDebugDescriptionErrorKey] as? String
    let phrase = told ?? "its grammar is wrong"
    return .notJSON(reason: phrase.hasSuffix(".") ? String(phrase.dropLast()) : phrase)
  }
}
