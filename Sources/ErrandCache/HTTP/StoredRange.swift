package import ErrandCore

/// One range of bytes that a request wants (RFC 9110 section 14.2), to be cut out of a complete stored response.
package struct StoredRange: Sendable, Hashable {
  /// The first byte; nil if the last ``length`` bytes are meant.
  private let first: Int64?
  /// The last byte; nil for the end of the body.
  private let last: Int64?
  /// How many bytes at the end are wanted.
  private let length: Int64?

  /// Reads the one range that `Range` names; nil for several ranges, other units and what is malformed: those go to the
  /// server.
  package init?(_ fields: HTTPFields) {
    let values = fields.values(of: "Range")
    guard let value = values.first, values.count == 1 else { return nil }
    let parts = value.utf8.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, String(Substring(parts[0])).lowercased() == "bytes" else { return nil }
    let members = FieldList.members(String(Substring(parts[1])))
    guard let member = members.first, members.count == 1 else { return nil }
    let ends = member.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
    guard ends.count == 2 else { return nil }
    (first, last, length) = (Self.number(ends[0]), ends[0].isEmpty ? nil : Self.number(ends[1]), Self.number(ends[1]))
    let hasFirst = first != nil || ends[0].isEmpty
    let hasLast = length != nil || ends[1].isEmpty
    guard hasFirst, hasLast, first != nil || length != nil, first ?? 0 <= last ?? .max else { return nil }
  }

  /// The bytes that it means of a body with so many; nil if it means none of them.
  package func slice(of count: Int) -> Range<Int>? {
    let count = Int64(count)
    let begin = first ?? max(count - (length ?? 0), 0)
    let end = first == nil ? count : min(last ?? .max, count - 1) + 1
    return begin < end ? Int(begin)..<Int(end) : nil
  }

  /// The head of the answer with that slice of a body with so many bytes (RFC 9110 section 15.3.7).
  package static func head(_ stored: ResponseHead, _ slice: Range<Int>, of count: Int) -> ResponseHead {
    var fields = stored.fields
    fields.replace(HTTPField(.contentLength, String(slice.count)))
    fields.replace(HTTPField("Content-Range", "bytes \(slice.lowerBound)-\(slice.upperBound - 1)/\(count)"))
    return ResponseHead(status: 206, reason: "Partial Content", version: stored.version, fields: fields)
  }

  /// A decimal number; one that is larger than any body counts as the largest.
  private static func number(_ digits: Substring.UTF8View.SubSequence) -> Int64? {
    guard !digits.isEmpty, digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return digits.reduce(0) { number, digit in
      let (tenfold, isLarge) = number.multipliedReportingOverflow(by: 10)
      let (sum, isTooLarge) = tenfold.addingReportingOverflow(Int64(digit - 0x30))
      return isLarge || isTooLarge ? .max : sum
    }
  }
}

extension CacheQuestion {
  /// Whether a range of this stored response may be cut out for the request: the body is complete and has no content
  /// coding, and the request's `If-Range` names it by its strong entity tag (RFC 9110 section 13.1.5). A date in
  /// `If-Range` goes to the server.
  func mayCut(_ stored: CacheEntryHead) -> Bool {
    guard range != nil, stored.answer.status == 200, !stored.answer.fields.contains(.contentEncoding) else {
      return false
    }
    let wanted = fields.values(of: "If-Range")
    if wanted.isEmpty { return true }
    guard let text = wanted.first, wanted.count == 1, let tag = EntityTag(text), !tag.isWeak else { return false }
    return EntityTag(of: stored.answer.fields) == tag
  }
}
