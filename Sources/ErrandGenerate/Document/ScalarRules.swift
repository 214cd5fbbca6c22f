/// The rules by which the text of a scalar is recognised.
enum ScalarRules {
  /// The value of hexadecimal digits; nil if another byte is among them, such as a sign, or if they are too many.
  static func hex(_ digits: some Collection<UInt8>) -> UInt32? {
    let isHex = digits.allSatisfy { byte in
      (0x30...0x39).contains(byte) || (0x41...0x46).contains(byte) || (0x61...0x66).contains(byte)
    }
    return isHex ? UInt32(String(decoding: digits, as: UTF8.self), radix: 16) : nil
  }

  static func isNumberByte(_ byte: UInt8) -> Bool {
    (0x30...0x39).contains(byte) || [0x2B, 0x2D, 0x2E, 0x45, 0x65].contains(byte)
  }

  /// Whether a text is a number of JSON.
  static func isJSONNumber(_ text: String) -> Bool {
    var rest = text.utf8[...]
    if rest.first == UInt8(ascii: "-") { rest = rest.dropFirst() }
    let whole = rest.prefix { (0x30...0x39).contains($0) }
    guard !whole.isEmpty, whole.count == 1 || whole.first != 0x30 else { return false }
    rest = rest.dropFirst(whole.count)
    if rest.first == UInt8(ascii: ".") {
      let digits = rest.dropFirst().prefix { (0x30...0x39).contains($0) }
      guard !digits.isEmpty else { return false }
      rest = rest.dropFirst(digits.count + 1)
    }
    guard let mark = rest.first else { return true }
    guard mark == UInt8(ascii: "e") || mark == UInt8(ascii: "E") else { return false }
    rest = rest.dropFirst()
    if rest.first == UInt8(ascii: "+") || rest.first == UInt8(ascii: "-") { rest = rest.dropFirst() }
    return !rest.isEmpty && rest.allSatisfy { (0x30...0x39).contains($0) }
  }
}
