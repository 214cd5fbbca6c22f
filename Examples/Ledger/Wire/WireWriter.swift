import Foundation

/// Writes the fields of a Protocol Buffers message: integers, texts and messages. A generator can make this code from a
/// .proto file.
struct WireWriter {
  private(set) var bytes = Data()

  mutating func number(_ field: UInt64, _ value: UInt64) {
    guard value != 0 else { return }  // the default value is not written
    varint(field << 3)
    varint(value)
  }

  /// An `sint64` in ZigZag coding, so that small negative numbers need few bytes.
  mutating func signed(_ field: UInt64, _ value: Int64) {
    number(field, UInt64(bitPattern: (value << 1) ^ (value >> 63)))
  }

  mutating func text(_ field: UInt64, _ text: String) {
    guard !text.isEmpty else { return }
    message(field, Data(text.utf8))
  }

  mutating func message(_ field: UInt64, _ content: Data) {
    varint(field << 3 | 2)
    varint(UInt64(content.count))
    bytes.append(content)
  }

  private mutating func varint(_ value: UInt64) {
    var rest = value
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(truncatingIfNeeded: rest))
  }
}
