import ErrandCore

/// A `Content-Range` in bytes (RFC 9110 section 14.4), parsed strictly.
package enum ContentRange: Sendable, Hashable {
  /// `bytes 0-9/100`, or `bytes 0-9/*` if the total length is unknown.
  case part(Range<Int64>, total: Int64?)
  /// `bytes */100`: the requested range does not overlap the resource.
  case unsatisfied(total: Int64)

  /// Parses a field value; nil for anything that is not exactly one valid range.
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

  /// Range units are case-insensitive (RFC 9110 section 14.1).
  private static func isUnit(_ bytes: ArraySlice<UInt8>, _ unit: String) -> Bool {
    bytes.map { $0 &- 0x41 < 26 ? $0 | 0x20 : $0 } == Array(unit.utf8)
  }
}

/// A length or an offset in a field value: only digits, at most `Int64.max`.
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
