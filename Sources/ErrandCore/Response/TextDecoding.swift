import Foundation

/// Decodes the bytes of bodies to text in the charset of the response.
enum TextDecoding {
  typealias Failure = HTTPResponse.TextFailure

  /// Decodes a body. The encoding is determined by the byte order mark. Without a byte order mark the given charset
  /// applies, and without a charset UTF-8.
  static func text(_ body: Data, charset: String?) throws(Failure) -> String {
    if let (mark, encoding, name) = byteOrderMark(of: body) {
      return try decode(body.dropFirst(mark.count), encoding, named: "\(name), the encoding of the byte order mark")
    }
    guard let charset, !charset.isEmpty else { return try decode(body, .utf8, named: "UTF-8") }
    for name in names(in: charset) {
      if let encoding = encodings[name] { return try decode(body, encoding, named: name) }
    }
    throw Failure(description: "the charset \"\(APIError.words(charset))\" is unknown")
  }

  /// The names in a `charset` parameter, in lower case. Some servers put the name in quotes or send several names; the
  /// first known name is used.
  private static func names(in charset: String) -> [String] {
    charset.lowercased().utf8.split { $0 == 0x2C || $0 == 0x20 || $0 == 0x09 }.map { name in
      let isQuote: (UInt8) -> Bool = { $0 == 0x27 || $0 == 0x22 }
      return String(decoding: name.drop(while: isQuote).prefix { !isQuote($0) }, as: UTF8.self)
    }
  }

  private static func decode(_ body: Data, _ encoding: String.Encoding, named name: String) throws(Failure) -> String {
    guard let text = text(body, in: encoding) else { throw Failure(description: "the body is not valid \(name)") }
    return text
  }

  /// Decodes a body; nil if it contains bytes that are not valid in the encoding.
  private static func text(_ body: Data, in encoding: String.Encoding) -> String? {
    if encoding == .utf8 { return String(validating: body, as: UTF8.self) }
    if encoding == .japaneseEUC { return JapaneseText.text(body) }
    // Foundation silently drops an incomplete character at the end of the body, so the length is checked first.
    guard body.count.isMultiple(of: width(of: encoding)), let text = String(data: body, encoding: encoding) else {
      return nil
    }
    return lenient.contains(encoding) && text.unicodeScalars.contains(where: isSubstitute) ? nil : text
  }

  private static let big5 = String.Encoding(rawValue: 0x8000_0A03)
  private static let korean = String.Encoding(rawValue: 0x8000_0422)
  private static let thai = String.Encoding(rawValue: 0x8000_041D)

  /// The encodings in which Foundation decodes bytes that no character has to control characters from U+0080 to U+009F,
  /// or to private-use characters from U+F8C0 on, instead of failing.
  private static let lenient: Set<String.Encoding> = [big5, korean, thai]

  /// Whether a scalar represents an invalid byte of a ``lenient`` encoding. The private-use characters of the
  /// user-defined areas of Big5 and Windows-949 are valid. They are before U+F8C0.
  private static func isSubstitute(_ scalar: Unicode.Scalar) -> Bool {
    (0x80...0x9F).contains(scalar.value) || (0xF8C0...0xF8FF).contains(scalar.value)
  }

  /// The size of one code unit of an encoding, in bytes.
  private static func width(of encoding: String.Encoding) -> Int {
    switch encoding {
    case .utf16BigEndian, .utf16LittleEndian: 2
    case .utf32BigEndian, .utf32LittleEndian: 4
    default: 1
    }
  }

  private static func byteOrderMark(of body: Data) -> (mark: [UInt8], encoding: String.Encoding, name: String)? {
    let marks: [(mark: [UInt8], encoding: String.Encoding, name: String)] = [
      ([0xEF, 0xBB, 0xBF], .utf8, "UTF-8"), ([0xFF, 0xFE, 0x00, 0x00], .utf32LittleEndian, "UTF-32"),
      ([0x00, 0x00, 0xFE, 0xFF], .utf32BigEndian, "UTF-32"), ([0xFF, 0xFE], .utf16LittleEndian, "UTF-16"),
      ([0xFE, 0xFF], .utf16BigEndian, "UTF-16"),
    ]
    return marks.first { body.starts(with: $0.mark) }
  }

  /// The encodings that servers use. The keys are the names of the encodings in the IANA character set registry and in
  /// the Encoding Standard of WHATWG, in lower case. UTF-16 without a byte order mark is big endian (RFC 2781 section
  /// 4.3). GB2312 and GBK are subsets of GB18030, and EUC-KR is a subset of Windows-949. ISO-8859-1 is decoded as
  /// ISO-8859-1, not as Windows-1252.
  private static let encodings: [String: String.Encoding] = {
    let gb18030 = String.Encoding(rawValue: 0x8000_0632)
    func other(_ number: UInt) -> String.Encoding { String.Encoding(rawValue: 0x8000_0000 | number) }
    let groups: [(String.Encoding, [String])] = [
      (.utf8, ["utf-8", "utf8", "unicode-1-1-utf-8"]), (.ascii, ["us-ascii", "ascii", "ansi_x3.4-1968"]),
      (.utf16BigEndian, ["utf-16", "utf16", "utf-16be"]), (.utf16LittleEndian, ["utf-16le"]),
      (.utf32BigEndian, ["utf-32", "utf-32be"]), (.utf32LittleEndian, ["utf-32le"]),
      (.isoLatin1, ["iso-8859-1", "latin1", "l1", "iso_8859-1", "iso8859-1"]),
      (.isoLatin2, ["iso-8859-2", "latin2", "l2", "iso_8859-2", "iso8859-2"]),
      (.windowsCP1250, ["windows-1250", "cp1250"]),
      (.windowsCP1251, ["windows-1251", "cp1251"]), (.windowsCP1252, ["windows-1252", "cp1252", "x-cp1252"]),
      (.windowsCP1253, ["windows-1253", "cp1253"]), (.windowsCP1254, ["windows-1254", "cp1254"]),
      (gb18030, ["gb18030", "gbk", "gb2312", "cp936", "x-gbk", "gb_2312-80", "ms936", "windows-936"]),
      (gb18030, ["gb_2312", "csgb2312", "chinese"]),
      (big5, ["big5", "csbig5", "x-x-big5", "cn-big5"]), (other(0x0A06), ["big5-hkscs"]),
      (other(0x0205), ["iso-8859-5", "cyrillic", "iso_8859-5", "iso8859-5"]),
      (other(0x0207), ["iso-8859-7", "greek", "iso_8859-7", "iso8859-7"]),
      (other(0x0209), ["iso-8859-9", "latin5", "l5", "iso_8859-9", "iso8859-9"]),
      (other(0x020F), ["iso-8859-15", "latin-9", "l9", "iso_8859-15", "iso8859-15"]),
      (other(0x0A02), ["koi8-r", "koi8", "koi8_r", "cskoi8r"]),
      (other(0x0505), ["windows-1255", "cp1255"]), (other(0x0506), ["windows-1256", "cp1256"]),
      (other(0x0507), ["windows-1257", "cp1257"]), (other(0x0508), ["windows-1258", "cp1258"]),
      (thai, ["tis-620", "windows-874", "dos-874"]),
      (.shiftJIS, ["shift_jis", "shift-jis", "sjis", "x-sjis", "ms_kanji", "windows-31j", "csshiftjis", "ms932"]),
      (.japaneseEUC, ["euc-jp", "x-euc-jp"]), (.iso2022JP, ["iso-2022-jp", "csiso2022jp"]),
      (korean, ["euc-kr", "ks_c_5601-1987", "cseuckr", "korean", "windows-949", "cp949", "ms949"]),
      (korean, ["ks_c_5601-1989", "ksc5601", "ksc_5601"]),
    ]
    var table: [String: String.Encoding] = [:]
    for (encoding, names) in groups { for name in names { table[name] = encoding } }
    return table
  }()
}

/// Decodes EUC-JP, which Foundation cannot read on Linux. The text is first converted to ISO-2022-JP-2 (RFC 1554),
/// which Foundation can read. Both encodings contain the same character sets. EUC-JP selects a character set by high
/// bits, and ISO-2022-JP-2 by escape sequences.
private enum JapaneseText {
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
