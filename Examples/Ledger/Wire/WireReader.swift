import Foundation

/// Reads the fields of a Protocol Buffers message one by one.
struct WireReader {
  /// The value of a field.
  enum Value {
    case number(UInt64)
    case bytes(Data)
  }

  private var rest: Data

  init(_ bytes: Data) { rest = bytes }

  /// The next field; nil at the end.
  mutating func next() throws -> (field: UInt64, value: Value)? {
    guard !rest.isEmpty else { return nil }
    let key = try varint()
    switch key & 7 {
    case 0: return (key >> 3, .number(try varint()))
    case 2: return (key >> 3, .bytes(try take(varint())))
    default: throw Broken(description: "field \(key >> 3) has an unsupported wire type")
    }
  }

  private mutating func varint() throws -> UInt64 {
    var value: UInt64 = 0
    for shift in stride(from: UInt64(0), to: 64, by: 7) {
      guard let byte = rest.popFirst() else { throw Broken.cut }
      value |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 { return value }
    }
    throw Broken(description: "a number has more than ten bytes")
  }

  private mutating func take(_ count: UInt64) throws -> Data {
    guard count <= UInt64(rest.count) else { throw Broken.cut }
    defer { rest = rest.dropFirst(Int(count)) }
    return rest.prefix(Int(count))
  }

  /// The bytes are not a valid message.
  struct Broken: Error, CustomStringConvertible {
    let description: String
    static let cut = Broken(description: "the message is truncated")
  }
}

extension WireReader.Value {
  /// The unsigned number; zero for any other kind.
  var number: UInt64 { if case .number(let value) = self { value } else { 0 } }
  /// The decoded `sint64` (ZigZag).
  var signed: Int64 { Int64(bitPattern: number >> 1) ^ -Int64(bitPattern: number & 1) }
  /// The bytes of a message; empty for a number.
  var content: Data { if case .bytes(let bytes) = self { bytes } else { Data() } }
  /// A text in UTF-8.
  var text: String { String(decoding: content, as: UTF8.self) }
}
