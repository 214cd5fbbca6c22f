import ErrandCore

/// A length or a place as it stands in a field: digits and nothing else, at most `Int64.max`.
enum DecimalNumber {
  static func read(_ bytes: some Collection<UInt8>) -> Int64? {
    guard !bytes.isEmpty else { return nil }
    var value: Int64 = 0
    for byte in bytes {
      guard ASCII.isDigit(byte) else { return nil }
      let (product, isTooLarge) = value.multipliedReportingOverflow(by: 10)
      let (sum, isTooLargeYet) = product.addingReportingOverflow(Int64(byte &- 0x30))
      if isTooLarge || isTooLargeYet { return nil }
      value = sum
    }
    return value
  }
}
