import ErrandSupport
import Foundation

/// Quotes words so that bash reads exactly the same bytes.
///
/// The type compares bytes. In Swift, an apostrophe with a combining accent is a different character than an
/// apostrophe. For the shell it is an apostrophe.
enum ShellText {
  /// One word of a command line. The text must not contain a zero byte.
  static func quoted(_ text: String) -> String { quoted(Data(text.utf8)) }

  /// One word of a command line, from any bytes except zero.
  static func quoted(_ bytes: Data) -> String {
    guard let text = String(validating: bytes, as: UTF8.self), !text.unicodeScalars.contains(where: isControl) else {
      return "$'" + bytes.map(ansi).joined() + "'"
    }
    if !text.isEmpty, text.utf8.allSatisfy(isPlain) { return text }
    return "'" + text.replacingBytes(of: "'", with: #"'\''"#) + "'"
  }

  /// A format for `printf` that writes exactly these bytes, including zero.
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

  /// How a byte is written inside `$'…'`.
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

  /// The octal escape of a byte. It always has three digits, so that a digit after the escape is not read as a part of
  /// it.
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
