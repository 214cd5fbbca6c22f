import Foundation

/// Decodes EUC-JP, which Foundation cannot read on Linux. The text is first converted to ISO-2022-JP-2 (RFC 1554),
/// which Foundation can read. Both encodings contain the same character sets. EUC-JP selects a character set by high
/// bits, and ISO-2022-JP-2 by escape sequences.
enum JapaneseText {
  /// The character sets of EUC-JP.
  private enum CharacterSet {
    case ascii, katakana, kanji, supplement

    var escape: [UInt8] {
      switch self {
      case .ascii: [0x1B, 0x28, 0x42]
      case .katakana: [0x1B, 0x28, 0x49]
      case .kanji: [0x1B, 0x24, 0x42]
      case .supplement: [0x1B, 0x24, 0x28, 0x44]
      }
    }
  }

  private static let encoding = String.Encoding(rawValue: 0x8000_0821)

  /// Decodes a body; returns nil if the body is not valid EUC-JP.
  static func text(_ body: Data) -> String? {
    var rest = body[...]
    var converted = Data()
    var current = CharacterSet.ascii
    while let first = rest.popFirst() {
      let set: CharacterSet
      var code = [first]
      switch first {
      case 0x1B: return nil
      case 0..<0x80: set = .ascii
      case 0x8E: (set, code) = (.katakana, Array(rest.prefix(1)))
      case 0x8F: (set, code) = (.supplement, Array(rest.prefix(2)))
      default: (set, code) = (.kanji, [first] + rest.prefix(1))
      }
      if set != .ascii {
        guard code.count == (set == .katakana ? 1 : 2), code.allSatisfy({ (0xA1...0xFE).contains($0) }) else {
          return nil
        }
        rest = rest.dropFirst(set == .kanji ? 1 : code.count)
      }
      if set != current { converted += set.escape }
      current = set
      converted += code.map { $0 & 0x7F }
    }
    if current != .ascii { converted += CharacterSet.ascii.escape }
    return String(data: converted, encoding: encoding)
  }
}
