import Foundation

/// Bytes that libFuzzer made up, and what the targets read from them.
struct FuzzInput {
  let bytes: UnsafeRawBufferPointer

  init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  /// The bytes as a text, as a field's value becomes one: UTF-8 where it is valid, ISO 8859-1 otherwise.
  var text: String {
    String(validating: bytes, as: UTF8.self) ?? String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
  }

  /// A copy.
  var data: Data { Data(bytes) }

  /// The first byte, to choose among variants, and the rest. Nil where there is none.
  var choice: (byte: UInt8, rest: FuzzInput)? {
    bytes.first.map { ($0, FuzzInput(UnsafeRawBufferPointer(rebasing: bytes[1...]))) }
  }

  /// The lines, each with its line feed, the last one as it is.
  var lines: [UnsafeRawBufferPointer] {
    var lines: [UnsafeRawBufferPointer] = []
    var start = 0
    for index in bytes.indices where bytes[index] == 0x0A {
      lines.append(UnsafeRawBufferPointer(rebasing: bytes[start...index]))
      start = index + 1
    }
    if start < bytes.count { lines.append(UnsafeRawBufferPointer(rebasing: bytes[start...])) }
    return lines
  }

  /// The lines as texts, without their ends.
  var textLines: [String] { text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) }
}
