package import Foundation

/// Whether the numbers that a type reads as dates are seconds or milliseconds since 1970, although the decoder counts
/// seconds since 2001. Seconds since 1970 are then read as dates 31 years too late: 2025 becomes 2056.
package enum JSONEpochDates: Sendable, Equatable {
  /// The text has no number that may count from 1970, the type read no dates from numbers, or the decoder has another
  /// date strategy.
  case none
  /// Some numbers are dates of the present if they count seconds since 2001.
  case right
  /// All numbers are dates of the present only if they count from 1970.
  ///
  /// - Parameters:
  ///   - path: The path of the first date.
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
    let paths = trace(type, from: text, at: path).dates.map { diagnosis.writtenPath($0, in: root) }
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
    guard let first = found.first else { return .none }
    guard found.allSatisfy({ suspects.contains($0.number) || suspects.contains($0.number / 1_000) }),
      let strategy = JSONDecodingHint.strategy(for: first.number)
    else { return .right }
    return .wrong(path: first.path, year: 2001 + Int(first.number / 31_556_952), strategy: strategy)
  }

  /// Seconds since 1970 from 2010 to 2040. As seconds since 2001, the same numbers are dates from 2041 to 2071.
  private static let suspects = 1_262_304_000.0...2_208_988_800.0
}
