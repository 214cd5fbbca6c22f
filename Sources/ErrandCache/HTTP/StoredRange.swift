package import ErrandCore

/// The single byte range that a request asks for (RFC 9110 section 14.2). The cache can cut this range out of a
/// complete stored response.
package struct StoredRange: Sendable, Hashable {
  /// The offset of the first byte; nil if the range is the last ``length`` bytes of the body.
  private let first: Int64?
  /// The offset of the last byte; nil if the range extends to the end of the body.
  private let last: Int64?
  /// The number of requested bytes at the end of the body; nil if the range begins at an offset.
  private let length: Int64?

  /// Parses `Range`. Nil if it contains several ranges, another unit than bytes, or a malformed value. Such a request
  /// is sent to the server.
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

  /// The offsets of the bytes that the range selects in a body of `count` bytes; nil if the range selects no byte.
  package func slice(of count: Int) -> Range<Int>? {
    let count = Int64(count)
    let begin = first ?? max(count - (length ?? 0), 0)
    let end = first == nil ? count : min(last ?? .max, count - 1) + 1
    return begin < end ? Int(begin)..<Int(end) : nil
  }

  /// The head (status and fields) of the 206 response for a part of a body of `count` bytes (RFC 9110 section 15.3.7).
  /// It has no digest of the whole body.
  package static func head(_ stored: ResponseHead, _ slice: Range<Int>, of count: Int) -> ResponseHead {
    var fields = stored.fields
    fields.removeAll { StoredFields.digests.contains($0.name) }
    fields.replace(HTTPField(.contentLength, String(slice.count)))
    fields.replace(HTTPField("Content-Range", "bytes \(slice.lowerBound)-\(slice.upperBound - 1)/\(count)"))
    return ResponseHead(status: 206, reason: "Partial Content", version: stored.version, fields: fields)
  }

  /// The head (status and fields) of the 416 response for a range outside a body of `count` bytes (RFC 9110 section
  /// 15.5.17).
  package static func unsatisfiable(_ stored: ResponseHead, of count: Int) -> ResponseHead {
    let kept: [HTTPFieldName] = [.eTag, "Last-Modified", .date, "Age"]
    var fields = stored.fields
    fields.removeAll { !kept.contains($0.name) }
    fields.append(HTTPField(.contentLength, "0"))
    fields.append(HTTPField("Content-Range", "bytes */\(count)"))
    return ResponseHead(status: 416, reason: "Range Not Satisfiable", version: stored.version, fields: fields)
  }

  /// Parses a decimal number. A number that is too large for `Int64` becomes the maximum.
  private static func number(_ digits: Substring.UTF8View.SubSequence) -> Int64? {
    guard !digits.isEmpty, digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return digits.reduce(0) { number, digit in
      let (tenfold, isLarge) = number.multipliedReportingOverflow(by: 10)
      let (sum, isTooLarge) = tenfold.addingReportingOverflow(Int64(digit - 0x30))
      return isLarge || isTooLarge ? .max : sum
    }
  }
}

extension CacheRules {
  /// Whether the range may be cut out of this stored response: the body is complete and has no content coding. If the
  /// request has `If-Range`, its value must be a strong entity tag that matches (RFC 9110 section 13.1.5). A request
  /// with a date in `If-Range` is sent to the server.
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
