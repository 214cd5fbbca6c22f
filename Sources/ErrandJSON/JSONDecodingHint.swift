package import Foundation

/// Finds out how a text that could not be decoded can be read: with a key strategy, a date strategy, the path of an
/// envelope, or an optional type.
struct JSONDecodingHint {
  private let root: JSONValue
  /// The path at which decoding started.
  private let start: JSONPath
  private let decoding: JSONDecoding

  init(root: JSONValue, start: JSONPath, decoding: JSONDecoding) {
    self.root = root
    self.start = start
    self.decoding = decoding
  }

  /// The hint for an error; nil if there is none.
  /// - Parameter type: The type that was decoded at the path of the error.
  func words(for error: JSONDecodingError, decoding type: any Any.Type) -> String? {
    guard error.path.steps.count >= start.steps.count else { return nil }
    switch error.kind {
    case .missingKey: return missingKey(at: error.path)
    case .unexpectedNull: return "if this value may be null, declare its type as an optional"
    case .wrongType, .invalidValue: return type == Date.self ? date(at: error.path) : list(at: error.path, error.reason)
    default: return nil
    }
  }

  // MARK: - Missing keys

  private func missingKey(at path: JSONPath) -> String? {
    guard case .key(let key)? = path.steps.last, path.steps.count > start.steps.count,
      let parent = path.parent, let members = root.value(at: parent)?.objectValue
    else { return nil }
    let plain = Self.plain(key)
    if let similar = members.keys.sorted().first(where: { Self.plain($0) == plain }) {
      return rename(similar, key, in: parent)
    }
    guard parent == start else { return nil }
    return envelope(around: members) { $0.objectValue?[key] != nil }.map { "the key is inside \($0)" }
  }

  /// The maximum length in bytes of a key that a hint quotes.
  private static let longestKey = 80

  /// The hint for a key of the text that differs from the requested key only in its case and in underscores.
  private func rename(_ found: String, _ key: String, in path: JSONPath) -> String? {
    guard found.utf8.count <= Self.longestKey else { return nil }
    let written = JSONValue.string(found)
    let name = decoding.convertedKey(found, below: decoding.route(to: path).codingKeys)
    if name != found {
      return "the key strategy reads \(written) as \(JSONValue.string(name)); declare this name in `CodingKeys`"
    }
    if FirstKey.name(of: found, by: Self.snakeCase) == key {
      return "to read \(written), set `jsonDecoding` of the `formats` to `.fast(keys: .convertFromSnakeCase)`"
    }
    return "the text has the key \(written); declare it in `CodingKeys`"
  }

  /// A key without case and separators.
  private static func plain(_ key: String) -> [UInt8] {
    key.lowercased().utf8.filter { $0 != UInt8(ascii: "_") && $0 != UInt8(ascii: "-") }
  }

  private static let snakeCase = {
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    return decoder
  }()

  // MARK: - Envelopes

  /// The names that servers often give to the value inside an envelope.
  private static let usualNames = ["data", "result", "results", "items", "response", "payload", "content", "list"]

  /// The hint if an array was expected and an object was found that contains one.
  private func list(at path: JSONPath, _ reason: String) -> String? {
    guard path == start, reason.utf8.starts(with: "expected an array".utf8),
      let members = root.value(at: path)?.objectValue
    else { return nil }
    return envelope(around: members) { $0.arrayValue != nil }.map { "the array is inside \($0)" }
  }

  /// The member, or the member of a member, that fits. Usual names are tried first.
  private func envelope(around members: [String: JSONValue], fits: (JSONValue) -> Bool) -> String? {
    for (name, value) in Self.ordered(members) where fits(value) { return Self.setting(start.appending(key: name)) }
    for (name, value) in Self.ordered(members) {
      for (inner, value) in Self.ordered(value.objectValue ?? [:]) where fits(value) {
        return Self.setting(start.appending(key: name).appending(key: inner))
      }
    }
    return nil
  }

  private static func ordered(_ members: [String: JSONValue]) -> [(String, JSONValue)] {
    let names = members.keys.filter { $0.utf8.count <= longestKey }.sorted()
    let usual = usualNames.filter { members[$0] != nil }
    return (usual + names.filter { !usual.contains($0) }).compactMap { name in members[name].map { (name, $0) } }
  }

  private static func setting(_ path: JSONPath) -> String {
    let text = "\(path)".trimmingPrefix("$").trimmingPrefix(".")
    let literal = text.utf8.contains(UInt8(ascii: "\"")) ? "#\"\(text)\"#" : "\"\(text)\""
    return "\(literal): set `envelope` of the `validation` to `Envelope(value: \(literal))`"
  }

  // MARK: - Dates

  /// The hint for a value that could not be read as a date.
  private func date(at path: JSONPath) -> String? {
    guard let value = root.value(at: path) else { return nil }
    if let number = value.doubleValue { return Self.strategy(for: number).map(Self.setting(dates:)) }
    guard let text = value.stringValue else { return nil }
    if ISO8601Text.date(of: text) != nil { return Self.setting(dates: ".iso8601") }
    return "`.iso8601` reads only texts such as 2026-01-31T12:00:00Z; read this one with `.fast(dates: .custom { … })`"
  }

  private static func setting(dates strategy: String) -> String {
    "to read this date, set `jsonDecoding` of the `formats` to `.fast(dates: \(strategy))`"
  }

  /// The strategy that reads a number as a date between 1990 and 2100.
  static func strategy(for number: Double) -> String? {
    switch number {
    case 631_152_000...4_102_444_800: ".secondsSince1970"
    case 631_152_000_000...4_102_444_800_000: ".millisecondsSince1970"
    default: nil
    }
  }
}

/// Whether the numbers that a type reads as dates are seconds or milliseconds since 1970, although the decoder counts
/// seconds since 2001. Seconds since 1970 are then read as dates 31 years too late: 2025 becomes 2056.
package enum JSONEpochDates: Sendable, Equatable {
  /// The text has no number that may count from 1970, or the decoder has another date strategy.
  case none
  /// The type reads no number as a date that is one of the present only if it counts from 1970.
  case right
  /// A number is a date of the present only if it counts from 1970. Other dates do not matter: a zero often means that
  /// there is no date, and a date of birth may be long ago.
  ///
  /// - Parameters:
  ///   - path: The path of the first such date.
  ///   - year: The year that was read.
  ///   - strategy: The date strategy that fits, such as `.secondsSince1970`.
  case wrong(path: JSONPath, year: Int, strategy: String)
}

extension JSONDecoding {
  /// Checks the numbers that a type reads as dates from a text. If the text has a number that may be such a date, it is
  /// decoded again, so the check suits debug builds.
  package func epochDates<T: Decodable>(of type: T.Type, in data: Data, at path: JSONPath) -> JSONEpochDates {
    guard case .deferredToDate = decoder.dateDecodingStrategy, let text = try? JSONText.utf8(of: data),
      Self.mayHaveEpochDates(text), let document = try? JSONDocument(text)
    else { return .none }
    let root = JSONValue.inText(document, at: 0)
    let diagnosis = JSONDiagnosis(of: data, by: self)
    let paths = trace(type, from: text, at: path).dates.map { diagnosis.writtenPath($0, below: path, in: root) }
    return Self.epochDates(paths.compactMap { path in root.value(at: path)?.doubleValue.map { (path, $0) } })
  }

  /// Whether a text has a number of 10 or 13 digits that begins with 1 or 2.
  private static func mayHaveEpochDates(_ text: Data) -> Bool {
    var (length, first) = (0, UInt8(0))
    for byte in text + [0] {
      if 0x30...0x39 ~= byte {
        if length == 0 { first = byte }
        length += 1
        continue
      }
      if length == 10 || length == 13, first == UInt8(ascii: "1") || first == UInt8(ascii: "2") { return true }
      length = 0
    }
    return false
  }

  static func epochDates(_ found: [(path: JSONPath, number: Double)]) -> JSONEpochDates {
    for (path, number) in found where suspects.contains(number) || suspects.contains(number / 1_000) {
      guard let strategy = JSONDecodingHint.strategy(for: number) else { continue }
      return .wrong(path: path, year: 2001 + Int(number / 31_556_952), strategy: strategy)
    }
    return .right
  }

  /// Seconds since 1970 from 2010 to 2040. As seconds since 2001, the same numbers are dates from 2041 to 2071. So a
  /// right date after 2041 is reported, too: the number does not tell the two apart, and neither do other dates of the
  /// text, such as a date of birth. Therefore the date is only reported, never read in another way.
  private static let suspects = 1_262_304_000.0...2_208_988_800.0
}
