/// A number of seconds as it stands in fields (RFC 9111 section 1.2.2): digits and nothing else.
package enum DeltaSeconds {
  /// What larger numbers become: 2³¹ seconds are 68 years.
  package static let ceiling: Int64 = 1 << 31

  /// The number; nil where the bytes are no number without a sign.
  package static func read(_ bytes: some Collection<UInt8>) -> Int64? {
    guard !bytes.isEmpty else { return nil }
    var value: Int64 = 0
    for byte in bytes {
      guard ASCII.isDigit(byte) else { return nil }
      value = min(value * 10 + Int64(byte &- 0x30), ceiling)
    }
    return value
  }
}
