import ErrandCore

/// A `Content-Range` in bytes (RFC 9110 section 14.4), read strictly.
package enum ContentRange: Sendable, Hashable {
  /// `bytes 0-9/100`, or with `*` for a total that is not known.
  case part(Range<Int64>, total: Int64?)
  /// `bytes */100`: nothing of what was asked is there.
  case unsatisfied(total: Int64)

  /// Reads a field's value; nil for anything that is not exactly one range that can be.
  package init?(_ text: String) {
    let unit = "bytes "
    let bytes = Array(text.utf8)
    guard bytes.count > unit.utf8.count, ContentRange.isUnit(bytes.prefix(unit.utf8.count), unit) else { return nil }
    let sides = bytes.dropFirst(unit.utf8.count).split(separator: 0x2F, omittingEmptySubsequences: false)
    guard sides.count == 2, let range = sides.first, let length = sides.last else { return nil }
    let total = DecimalNumber.read(length)
    guard total != nil || length.elementsEqual("*".utf8) else { return nil }
    if range.elementsEqual("*".utf8) {
      guard let total else { return nil }
      self = .unsatisfied(total: total)
      return
    }
    let ends = range.split(separator: 0x2D, omittingEmptySubsequences: false)
    guard ends.count == 2, let first = ends.first.flatMap(DecimalNumber.read),
      let last = ends.last.flatMap(DecimalNumber.read), last < .max, first <= last,
      total.map({ last < $0 }) ?? true
    else { return nil }
    self = .part(first..<(last + 1), total: total)
  }

  /// Units are compared without regard to case (RFC 9110 section 14.1).
  private static func isUnit(_ bytes: ArraySlice<UInt8>, _ unit: String) -> Bool {
    bytes.map { $0 &- 0x41 < 26 ? $0 | 0x20 : $0 } == Array(unit.utf8)
  }
}

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
