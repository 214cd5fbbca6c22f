import ErrandSupport
import Foundation

/// Quotes texts so that bash reads exactly the same bytes.
///
/// The type compares bytes, not characters. In Swift, an apostrophe and a combining accent after it form one character,
/// which is not equal to an apostrophe. So a search for characters would not find this apostrophe, but the shell reads
/// it as the end of a quotation.
enum ShellText {
  /// Returns a text, quoted as one word of a command line. The text must not contain a zero byte.
  static func quoted(_ text: String) -> String { quoted(Data(text.utf8)) }

  /// Returns bytes, quoted as one word of a command line. No byte may be zero.
  static func quoted(_ bytes: Data) -> String {
    guard let text = String(validating: bytes, as: UTF8.self), !text.unicodeScalars.contains(where: isControl) else {
      return "$'" + bytes.map(ansi).joined() + "'"
    }
    if !text.isEmpty, text.utf8.allSatisfy(isPlain) { return text }
    return "'" + text.replacingBytes(of: "'", with: #"'\''"#) + "'"
  }

  /// Returns a format for the command `printf` that writes exactly these bytes, including zero bytes.
  static func format(_ bytes: Data) -> String {
    let text = bytes.map { byte -> String in
      switch byte {
      case 0x25: "%%"
      case 0x5C: #"\\"#
      case 0x20...0x7E where byte != 0x27: String(UnicodeScalar(byte))
      default: octal(byte)
      }
    }
    return "'" + text.joined() + "'"
  }

  /// Returns the text for a byte inside `$'…'`, a quotation of bash that may contain escapes.
  private static func ansi(_ byte: UInt8) -> String {
    switch byte {
    case 0x09: #"\t"#
    case 0x0A: #"\n"#
    case 0x0D: #"\r"#
    case 0x27: #"\'"#
    case 0x5C: #"\\"#
    case 0x20...0x7E: String(UnicodeScalar(byte))
    default: octal(byte)
    }
  }

  /// Returns the octal escape of a byte. The escape always has three digits, because bash would otherwise read a digit
  /// after the escape as a part of the escape.
  private static func octal(_ byte: UInt8) -> String {
    let digits = String(byte, radix: 8)
    return #"\"# + String(repeating: "0", count: 3 - digits.count) + digits
  }

  private static func isPlain(_ byte: UInt8) -> Bool {
    ASCII.isAlphanumeric(byte) || "-._/:@%+=,".utf8.contains(byte)
  }

  private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
    scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
  }
}
