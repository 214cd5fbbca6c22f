import Foundation

/// Looks through a text that Foundation refused for a number that no `Double` can hold.
enum JSONNumberScan {
  /// The first such number outside of strings, shortened to 40 characters; nil if there is none.
  static func firstBeyondDouble(in utf8: Data) -> String? {
    var inString = false
    var escaped = false
    var token: [UInt8] = []
    for byte in utf8 {
      if inString {
        inString = escaped || byte != UInt8(ascii: "\"")
        escaped = !escaped && byte == UInt8(ascii: "\\")
      } else if isOfNumber(byte) {
        token.append(byte)
      } else {
        if let number = beyondDouble(token) { return number }
        token.removeAll(keepingCapacity: true)
        inString = byte == UInt8(ascii: "\"")
      }
    }
    return beyondDouble(token)
  }

  private static func isOfNumber(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "."),
      UInt8(ascii: "e"), UInt8(ascii: "E"):
      true
    default: false
    }
  }

  private static func beyondDouble(_ token: [UInt8]) -> String? {
    guard token.count > 2, let text = String(validating: token, as: UTF8.self) else { return nil }
    guard let number = Double(text), number.isInfinite else { return nil }
    return text.count > 40 ? text.prefix(40) + "…" : text
  }
}
