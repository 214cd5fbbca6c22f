import Foundation

/// Detects the encoding of a JSON text and converts it to UTF-8 without a byte order mark.
enum JSONText {
  /// The text in UTF-8. If the bytes are UTF-8 already, they are returned unchanged.
  /// - Throws: ``JSONError`` if the bytes are not valid text in the detected encoding.
  static func utf8(of data: Data) throws(JSONError) -> Data {
    if beginsAsUTF8(data) { return data }
    let (encoding, markLength) = encoding(of: Array(data.prefix(4)))
    let text = markLength == 0 ? data : data.dropFirst(markLength)
    guard encoding != .utf8 else { return text }
    // `String` silently drops an incomplete code unit at the end, so the length is checked first.
    guard text.count.isMultiple(of: width(of: encoding)), let string = String(data: text, encoding: encoding) else {
      throw JSONError.notJSON(reason: "the bytes are not valid text in the detected encoding")
    }
    let utf8 = Data(string.utf8)
    return utf8.starts(with: utf8Mark) ? utf8.dropFirst(utf8Mark.count) : utf8
  }

  /// The fast path for nearly all texts: true if the first byte is ASCII and the second byte is not zero. No other
  /// encoding begins with such bytes.
  private static func beginsAsUTF8(_ data: Data) -> Bool {
    data.withUnsafeBytes { $0.count > 1 && (1..<0x80).contains($0[0]) && $0[1] != 0 }
  }

  private static let utf8Mark: [UInt8] = [0xEF, 0xBB, 0xBF]

  /// The size of one code unit, in bytes.
  private static func width(of encoding: String.Encoding) -> Int {
    switch encoding {
    case .utf16LittleEndian, .utf16BigEndian: 2
    case .utf32LittleEndian, .utf32BigEndian: 4
    default: 1
    }
  }

  /// The encoding of the text and the length of its byte order mark. If there is no mark, the positions of the zero
  /// bytes show the encoding (RFC 4627 section 3).
  private static func encoding(of head: [UInt8]) -> (String.Encoding, markLength: Int) {
    for (mark, encoding) in marks where head.starts(with: mark) { return (encoding, mark.count) }
    let zeros = head.map { $0 == 0 }
    switch zeros {
    case [true, true, true, false]: return (.utf32BigEndian, 0)
    case [false, true, true, true]: return (.utf32LittleEndian, 0)
    default: break
    }
    switch zeros.prefix(2) {
    case [true, false]: return (.utf16BigEndian, 0)
    case [false, true]: return (.utf16LittleEndian, 0)
    default: return (.utf8, 0)
    }
  }

  /// The byte order marks, the longest first: the mark of UTF-32LE begins with the mark of UTF-16LE.
  private static let marks: [(mark: [UInt8], encoding: String.Encoding)] = [
    ([0xFF, 0xFE, 0x00, 0x00], .utf32LittleEndian), ([0x00, 0x00, 0xFE, 0xFF], .utf32BigEndian),
    (utf8Mark, .utf8), ([0xFF, 0xFE], .utf16LittleEndian), ([0xFE, 0xFF], .utf16BigEndian),
  ]
}
