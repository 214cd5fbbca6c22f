package import Foundation

/// Checks texts before Foundation's `JSONDecoder` reads them. At some texts, `JSONDecoder` ends the process instead of
/// throwing an error (measured with Swift 6.3 on Linux).
///
/// The checks do not make JSON5 safe. Foundation's JSON5 parser ends the process at many malformed texts.
enum FoundationText {
  /// The text in UTF-8, for `JSONDecoder`.
  /// - Throws: ``JSONError`` if the bytes are not text, or if `JSONDecoder` could end the process at the text.
  static func checked(_ data: Data, allowsJSON5: Bool) throws(JSONError) -> Data {
    let text = try JSONText.utf8(of: data)
    if !allowsJSON5 { try refuseOpenEnd(of: text) }  // a comment of JSON5 may end with a bracket
    if let number = fatalNumber(in: text) { throw JSONError.numberOutOfRange(number) }
    return text
  }

  /// Throws an error if the last byte of a text before white space is an opening bracket. No valid JSON text ends like
  /// this. `JSONDecoder` ends the process if this bracket exceeds the depth limit, and nothing or a carriage return
  /// follows.
  private static func refuseOpenEnd(of text: Data) throws(JSONError) {
    let last = text.last { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
    guard last != UInt8(ascii: "["), last != UInt8(ascii: "{") else {
      throw JSONError.notJSON(reason: "the text ends where a value is expected")
    }
  }

  // MARK: - Numbers

  /// The maximum length in bytes of a number that `JSONDecoder` reads safely.
  ///
  /// `JSONDecoder` reads an integer of 2⁵³ or more that has an exponent as a `Decimal`, and ends the process if the
  /// number exceeds the range of `Decimal`. An example is 1e16, written as 0.00…01e146. The exponent of a `Decimal` is
  /// between -128 and 127. So only a number with about 128 zeros exceeds this range, although its value is small.
  private static let mostBytes = 128

  /// The magnitudes at which an integer type and `JSONDecoder`'s detour through `Decimal` are possible.
  private static let fatalValues = 0x1p53...0x1p128

  /// The first number of a text in UTF-8 at which `JSONDecoder` could end the process, shortened for messages; nil if
  /// there is no such number.
  static func fatalNumber(in text: Data) -> String? {
    text.withUnsafeBytes { bytes in
      guard mayHaveLongNumber(bytes) else { return nil }
      var here = 0
      while here < bytes.count {
        if bytes[here] == UInt8(ascii: "\"") {
          here = endOfString(at: here, in: bytes)
        } else if isPartOfNumber(bytes[here]) {
          let start = here
          while here < bytes.count, isPartOfNumber(bytes[here]) { here += 1 }
          if let number = fatalNumber(bytes[start..<here]) { return number }
        } else {
          here += 1
        }
      }
      return nil
    }
  }

  private static func fatalNumber(_ bytes: Slice<UnsafeRawBufferPointer>) -> String? {
    guard bytes.count > mostBytes, bytes.contains(where: { $0 | 0x20 == UInt8(ascii: "e") }) else { return nil }
    let numeral = String(decoding: bytes, as: UTF8.self)
    guard let number = Double(numeral), fatalValues.contains(number.magnitude) else { return nil }
    return JSONDocument.shortened(numeral)
  }

  /// Whether a text may have a number of more than ``mostBytes`` bytes, in a string or outside. Such a number contains
  /// a byte whose position is a multiple of ``mostBytes``, so only these bytes and their neighbours are read.
  private static func mayHaveLongNumber(_ bytes: UnsafeRawBufferPointer) -> Bool {
    for place in stride(from: 0, to: bytes.count, by: mostBytes) where isPartOfNumber(bytes[place]) {
      var (start, end) = (place, place + 1)
      while start > 0, place - start < mostBytes, isPartOfNumber(bytes[start - 1]) { start -= 1 }
      while end < bytes.count, end - place <= mostBytes, isPartOfNumber(bytes[end]) { end += 1 }
      if end - start > mostBytes { return true }
    }
    return false
  }

  private static func isPartOfNumber(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."),
      UInt8(ascii: "e"), UInt8(ascii: "E"):
      true
    default: false
    }
  }

  /// The position after a string. Like `JSONDecoder`, this skips four bytes after `\u`, even if one of them is a
  /// backslash.
  private static func endOfString(at start: Int, in bytes: UnsafeRawBufferPointer) -> Int {
    var here = start + 1
    while here < bytes.count, bytes[here] != UInt8(ascii: "\"") {
      guard bytes[here] == UInt8(ascii: "\\") else {
        here += 1
        continue
      }
      here += here + 1 < bytes.count && bytes[here + 1] == UInt8(ascii: "u") ? 6 : 2
    }
    return min(here + 1, bytes.count)
  }
}

extension JSONDecoder {
  /// Decodes like `decode(_:from:)`. Throws an error for the texts at which `decode(_:from:)` ends the process.
  package func decodeChecked<T: Decodable>(_ type: T.Type, from data: Data) throws -> T {
    try decode(type, from: FoundationText.checked(data, allowsJSON5: allowsJSON5))
  }
}
