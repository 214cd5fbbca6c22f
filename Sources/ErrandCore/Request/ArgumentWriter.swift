import ErrandJSON
import ErrandSupport
import Foundation

/// Writes arguments as a query, as a form body or as JSON.
struct ArgumentWriter: Sendable {
  /// The reason why an argument cannot be written.
  private enum Obstacle {
    case notFinite, nestedInCommas, namedTwice, namedAlike
    /// The style cannot represent the date, because it is too far from the present.
    case distantDate
    /// The JSON encoding cannot write the value; the text is its reason.
    case refused(String)
  }

  let style: ArgumentStyle

  /// Appends `name=value` pairs to `out`. Writes an ampersand before each pair, unless `out` ends in a question mark or
  /// an ampersand, or is empty.
  func appendPairs(_ arguments: Arguments, to out: inout [UInt8], asForm: Bool) throws(APIError) {
    try Self.checkEncoding(of: arguments)
    let plus = asForm || style.spaces == .plus
    for entry in arguments.entries {
      var name: [UInt8] = []
      Self.append(entry.name, to: &name, plus: plus)
      try append(name, entry.value, to: &out, plus: plus)
    }
  }

  /// Returns the arguments as a JSON object, with the names as they are. The JSON encoding determines how dates and
  /// data are written. If it has no strategy for dates, the style determines how dates are written.
  func json(_ arguments: Arguments, by encoding: JSONEncoding) throws(APIError) -> JSONValue {
    try Self.checkEncoding(of: arguments)
    var object: [String: JSONValue] = [:]
    for entry in arguments.entries {
      let former = object.updateValue(try json(entry.value, entry.name, encoding), forKey: entry.name)
      guard former != nil else { continue }
      // Swift considers some names equal although their bytes differ. A `JSONValue` can contain only one of two such
      // names.
      let count = arguments.entries.count { $0.name.hasSameBytes(as: entry.name) }
      throw Self.unwritable(entry.name, count > 1 ? .namedTwice : .namedAlike)
    }
    return .object(object)
  }

  private static func checkEncoding(of arguments: Arguments) throws(APIError) {
    guard let failure = arguments.failure else { return }
    throw .build(
      .invalidArgument,
      "No arguments can be made from a value of the type \(failure.type): \(APIError.ended(failure.reason))")
  }

  private func json(
    _ value: ArgumentValue, _ name: String, _ encoding: JSONEncoding
  ) throws(APIError) -> JSONValue {
    switch value {
    case .omitted, .null: return .null
    case .bool(let bool): return .bool(bool)
    case .integer(let integer): return .integer(integer)
    case .unsigned(let unsigned): return .unsigned(unsigned)
    case .number(let number):
      guard number.isFinite else { throw Self.unwritable(name, .notFinite) }
      return .number(number)
    case .string(let string): return .string(string)
    case .date(let date):
      guard date.timeIntervalSince1970.isFinite else { throw Self.unwritable(name, .notFinite) }
      if encoding.hasDateStrategy { return try Self.encoded(date, name, encoding) }
      let written =
        style.dates == .iso8601
        ? Self.iso8601(date).map { JSONValue.string($0) } : whole(date).map { JSONValue.integer($0) }
      guard let written else { throw Self.unwritable(name, .distantDate) }
      return written
    case .data(let data): return try Self.encoded(data, name, encoding)
    case .array(let values):
      let shown = values.filter { !$0.isOmitted }
      return .array(try shown.map { value throws(APIError) in try json(value, name, encoding) })
    case .object(let arguments): return try json(arguments, by: encoding)
    }
  }

  private static func encoded(
    _ value: some Encodable, _ name: String, _ encoding: JSONEncoding
  ) throws(APIError) -> JSONValue {
    do throws(JSONEncodingError) {
      return try JSONValue(encoding: value, by: encoding)
    } catch {
      throw unwritable(name, .refused(error.reason))
    }
  }

  private func append(_ name: [UInt8], _ value: ArgumentValue, to out: inout [UInt8], plus: Bool) throws(APIError) {
    switch value {
    case .array(let values):
      try append(name, values, to: &out, plus: plus)
    case .object(let arguments):
      try Self.checkEncoding(of: arguments)
      for entry in arguments.entries {
        try append(inner(name, entry.name, plus: plus), entry.value, to: &out, plus: plus)
      }
    case .null where style.nulls == .omitted, .omitted:
      break
    default:
      Self.separate(&out)
      out += name
      out.append(0x3D)
      Self.append(try text(value, name), to: &out, plus: plus)
    }
  }

  private func append(
    _ name: [UInt8], _ values: [ArgumentValue], to out: inout [UInt8], plus: Bool
  ) throws(APIError) {
    let shown = values.filter { !$0.isOmitted && !($0 == .null && style.nulls == .omitted) }
    if style.arrays == .commas { return try appendJoined(name, shown, to: &out, plus: plus) }
    for (index, value) in shown.enumerated() {
      let member: [UInt8] =
        switch style.arrays {
        case .repeated, .commas: name
        case .brackets: name + Array("%5B%5D".utf8)
        case .indexed: name + Array("%5B\(index)%5D".utf8)
        }
      try append(member, value, to: &out, plus: plus)
    }
  }

  /// Writes a list of values as one value, joined by commas. The commas between the values are not escaped; a comma
  /// inside a value is escaped.
  private func appendJoined(
    _ name: [UInt8], _ values: [ArgumentValue], to out: inout [UInt8], plus: Bool
  ) throws(APIError) {
    guard !values.isEmpty else { return }
    Self.separate(&out)
    out += name
    for (index, value) in values.enumerated() {
      out.append(index == 0 ? 0x3D : 0x2C)
      Self.append(try text(value, name), to: &out, plus: plus)
    }
  }

  private func text(_ value: ArgumentValue, _ name: [UInt8]) throws(APIError) -> String {
    switch value {
    case .bool(let bool): style.booleans == .words ? "\(bool)" : bool ? "1" : "0"
    case .integer(let integer): "\(integer)"
    case .unsigned(let unsigned): "\(unsigned)"
    case .number(let number) where number.isFinite:
      Int64(exactly: number).map { "\($0)" } ?? "\(number)"
    case .string(let string): string
    case .date(let date) where date.timeIntervalSince1970.isFinite:
      try text(date, name)
    case .data(let data): data.base64EncodedString()
    case .null: style.nulls == .word ? "null" : ""
    case .number, .date: throw Self.unwritable(name, .notFinite)
    case .omitted, .array, .object: throw Self.unwritable(name, .nestedInCommas)
    }
  }

  private func text(_ date: Date, _ name: [UInt8]) throws(APIError) -> String {
    let written = style.dates == .iso8601 ? Self.iso8601(date) : whole(date).map { "\($0)" }
    guard let written else { throw Self.unwritable(name, .distantDate) }
    return written
  }

  private static func unwritable(_ name: [UInt8], _ obstacle: Obstacle) -> APIError {
    let escaped = String(decoding: name.map { $0 == 0x2B ? 0x20 : $0 }, as: UTF8.self)
    return unwritable(escaped.removingPercentEncoding ?? escaped, obstacle)
  }

  private static func unwritable(_ name: String, _ obstacle: Obstacle) -> APIError {
    .build(.invalidArgument, APIError.ended("The argument \"\(name)\" cannot be sent: \(clause(obstacle))"))
  }

  private static func clause(_ obstacle: Obstacle) -> String {
    switch obstacle {
    case .refused(let reason): reason
    case .notFinite: "the value is not a finite number; pass a finite value"
    case .distantDate:
      "the date is not in the years 0 to 9999; check whether a number of milliseconds was taken for seconds"
    case .nestedInCommas:
      "the list contains lists or objects, which commas cannot join; choose another `ArgumentStyle.arrays`"
    case .namedTwice:
      "the name occurs twice, but names in a JSON object are unique; pass one argument with a list as its value"
    case .namedAlike:
      "another name differs only in how its accents are encoded in Unicode, and `JSONValue` cannot contain both; "
        + "rename one of them, or send the JSON with `RequestBody.bytes`"
    }
  }

  /// Returns the seconds or milliseconds since 1970; nil if the number is outside the range of `Int64`.
  private func whole(_ date: Date) -> Int64? {
    let milliseconds = Self.milliseconds(date)
    let number = style.dates == .milliseconds ? milliseconds : (milliseconds / 1000).rounded(.down)
    return Int64(exactly: number)
  }

  /// Returns the milliseconds since 1970, rounded to the nearest whole number. The binary value of a date that was
  /// parsed from text is often slightly below the value in the text, so without rounding the last digit would be wrong.
  private static func milliseconds(_ date: Date) -> Double { (date.timeIntervalSince1970 * 1000).rounded() }

  private static func iso8601(_ date: Date) -> String? { ISO8601Text.milliseconds(of: date, always: false) }

  private static func separate(_ out: inout [UInt8]) {
    if let last = out.last, last != 0x3F, last != 0x26 { out.append(0x26) }
  }

  private func inner(_ outer: [UInt8], _ name: String, plus: Bool) -> [UInt8] {
    var full = outer
    full += (style.objects == .brackets ? "%5B" : ".").utf8
    Self.append(name, to: &full, plus: plus)
    if style.objects == .brackets { full += "%5D".utf8 }
    return full
  }

  private static func append(_ text: String, to out: inout [UInt8], plus: Bool) {
    guard plus, text.utf8.contains(0x20) else { return PercentEncoding.append(text, to: &out, keeping: .value) }
    for (index, word) in Array(text.utf8).split(separator: 0x20, omittingEmptySubsequences: false).enumerated() {
      if index > 0 { out.append(0x2B) }
      PercentEncoding.append(word, to: &out, keeping: .value)
    }
  }
}
