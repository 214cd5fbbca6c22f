import Foundation

/// Finds the encoding of a JSON text and brings it to UTF-8 without a byte order mark.
enum JSONText {
  /// The text in UTF-8; the same bytes if they were that already.
  /// - Throws: ``JSONError``: empty, or bytes that are no text in the encoding found.
  static func utf8(of data: Data) throws(JSONError) -> Data {
    if beginsAsUTF8(data) { return data }
    let (encoding, markLength) = encoding(of: Array(data.prefix(4)))
    let text = markLength == 0 ? data : data.dropFirst(markLength)
    guard encoding != .utf8 else { return text }
    // A half of a unit at the end would be dropped.
    guard text.count.isMultiple(of: width(of: encoding)), let string = String(data: text, encoding: encoding) else {
      throw JSONError.notJSON(reason: "the bytes are no text in the encoding they announce")
    }
    let utf8 = Data(string.utf8)
    return utf8.starts(with: utf8Mark) ? utf8.dropFirst(utf8Mark.count) : utf8
  }

  /// Nearly all texts: an ASCII character and no zero byte behind it, which no other encoding begins with.
  private static func beginsAsUTF8(_ data: Data) -> Bool {
    data.withUnsafeBytes { $0.count > 1 && (1..<0x80).contains($0[0]) && $0[1] != 0 }
  }

  private static let utf8Mark: [UInt8] = [0xEF, 0xBB, 0xBF]

  /// The bytes of one unit.
  private static func width(of encoding: String.Encoding) -> Int {
    switch encoding {
    case .utf16LittleEndian, .utf16BigEndian: 2
    case .utf32LittleEndian, .utf32BigEndian: 4
    default: 1
    }
  }

  /// The encoding told by a byte order mark or, as RFC 4627 part 3 has it, by where the zero bytes stand, and the mark's length.
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

  /// Longest first: the mark of UTF-32 begins with that of UTF-16.
  private static let marks: [(mark: [UInt8], encoding: String.Encoding)] = [
    ([0xFF, 0xFE, 0x00, 0x00], .utf32LittleEndian), ([0x00, 0x00, 0xFE, 0xFF], .utf32BigEndian),
    (utf8Mark, .utf8), ([0xFF, 0xFE], .utf16LittleEndian), ([0xFE, 0xFF], .utf16BigEndian),
  ]
}
