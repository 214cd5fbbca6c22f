/// Where in a text its grammar is broken.
public struct JSONPlace: Sendable, Hashable {
  /// The byte from the start, counted from 0 in UTF-8 and without a byte order mark.
  public let byte: Int
  /// The line, counted from 1.
  public let line: Int
  /// The character in the line, counted from 1.
  public let column: Int
  /// The value that was being read.
  public let path: JSONPath

  /// - Parameter text: The text up to the byte, at least.
  init(byte: Int, in text: UnsafeRawBufferPointer, path: JSONPath) {
    let before = text.prefix(byte)
    let line = before.reduce(1) { $1 == UInt8(ascii: "\n") ? $0 + 1 : $0 }
    let start = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? before.startIndex
    self.byte = byte
    self.line = line
    column = before[start...].reduce(1) { $1 & 0xC0 == 0x80 ? $0 : $0 + 1 }
    self.path = path
  }
}

extension JSONPlace: CustomStringConvertible {
  /// The place in words: `line 3, column 7, in $.items[2]`.
  public var description: String {
    "line \(line), column \(column)" + (path.steps.isEmpty ? "" : ", in \(path)")
  }
}
